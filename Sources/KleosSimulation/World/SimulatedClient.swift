import KleosDaemon
import KleosModel
import KleosStore
import KleosSupport

/// A game that submits events and does not rest until each is acknowledged.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class SimulatedClient: @unchecked Sendable {
    private let world: World
    private let uid: UInt32
    private var count = 0
    private var acknowledged: [(submission: Submission, key: EventKey)] = []

    init(_ world: World, uid: UInt32) {
        self.world = world
        self.uid = uid
    }

    /// Submits a burst of events, then plans the next burst.
    func play() {
        guard !world.areFaultsOver else { return }
        let schedule = world.schedule
        for _ in 0..<schedule.skewed(1...8) { submit(makeSubmission()) }
        if let earlier = acknowledged.last, schedule.chance(oneIn: 8) { submit(earlier.submission) }
        schedule.after(schedule.number(0...2 * world.playPauseMilliseconds)) { [self] in play() }
    }

    private func makeSubmission() -> Submission {
        let schedule = world.schedule
        count += 1
        let game = schedule.one(of: ["free", "free", "arcade", "slate", "tally"])
        let catalog = world.configuration.whole.games[game]
        let player = game == "arcade" && schedule.chance(oneIn: 3) ? nil : "p\(schedule.number(0...2))"
        let id = schedule.chance(oneIn: 20) ? nil : "\(uid)-\(count)"
        let achievements = catalog?.achievements.keys.sorted() ?? []
        if !achievements.isEmpty, schedule.chance(oneIn: 3) {
            var submission = Submission(kind: .achievement, game: game, player: player, clientID: id)
            submission.achievement = schedule.one(of: achievements)
            switch (game, submission.achievement) {
            case ("tally", _): submission.increment = schedule.number(1...5)
            case (_, "hundred"): submission.steps = schedule.number(1...120)
            default: submission.progress = schedule.one(of: [nil, 10, 50, 100])
            }
            return submission
        }
        return Submission(
            kind: .score, game: game, player: player,
            leaderboard: schedule.one(of: catalog?.leaderboards.keys.sorted() ?? []),
            value: "\(schedule.number(1...400))", clientID: id)
    }

    /// Submits until there is an answer; with an id it may be sent again.
    private func submit(_ submission: Submission) {
        let schedule = world.schedule
        guard let daemon = world.daemon, daemon.isServing else {
            return schedule.after(schedule.skewed(100...60_000)) { [self] in submit(submission) }
        }
        guard let game = world.setup.games[submission.game],
            let (player, subject) = try? SubmissionRules.resolve(submission, in: game)
        else { return schedule.after(600_000) { [self] in submit(submission) } }
        let fanOut = SubmissionRules.fanOut(subject, in: game, endpoints: world.setup.endpoints)
        guard !fanOut.isEmpty else { return schedule.after(600_000) { [self] in submit(submission) } }
        let now = world.clock.read()
        let event = Event(
            key: EventKey.version7(wallMilliseconds: now.wallMilliseconds, random: &schedule.random),
            clientID: submission.clientID, game: game.id, player: player, subject: subject,
            occurredAtMilliseconds: nil, metadata: nil, recorded: now, submitter: Submitter(uid: uid, pid: 1))
        let open = OpenSubmission(client: self, submission: submission, event: event, fanOut: fanOut)
        world.submitted.insert(event.key)
        daemon.engine.store.perform(lane: .user(uid, connection: 1)) { outbox throws(StoreError) in
            try outbox.accept(event, fanOut: fanOut)
        } then: { result in
            open.answered(result)
        }
        watch(open, of: daemon.life)
    }

    /// A daemon that dies never answers; then the same event goes to the next one, if it can be told apart.
    private func watch(_ open: OpenSubmission, of life: Life) {
        world.schedule.after(world.schedule.skewed(10_000...120_000)) { [self] in
            if open.isAnswered { return }
            if life.isAlive { return watch(open, of: life) }
            if open.submission.clientID != nil { submit(open.submission) }
        }
    }

    /// An event on its way into the outbox.
    ///
    /// Sendable because everything that touches it runs on the schedule's one thread.
    private final class OpenSubmission: @unchecked Sendable {
        let client: SimulatedClient
        let submission: Submission
        let event: Event
        let fanOut: [FanOut]
        var isAnswered = false

        init(client: SimulatedClient, submission: Submission, event: Event, fanOut: [FanOut]) {
            self.client = client
            self.submission = submission
            self.event = event
            self.fanOut = fanOut
        }

        func answered(_ result: Result<AcceptResult, StoreError>) {
            isAnswered = true
            client.answered(self, result)
        }
    }

    private func answered(_ open: OpenSubmission, _ result: Result<AcceptResult, StoreError>) {
        switch result {
        case .success(.accepted(let key)), .success(.superseded(let key)), .success(.duplicate(let key, _)):
            var event = open.event
            event.key = key
            world.acknowledged(event, open.fanOut)
            acknowledged.append((open.submission, key))
        case .success(.queueFull), .failure:
            world.trace("refused: \(result)")
            world.schedule.after(world.schedule.skewed(1_000...600_000)) { [self] in submit(open.submission) }
        case .success(.idConflict(let existing)):
            world.violate("id \(open.event.clientID ?? "") was taken for another event, \(existing)")
        }
    }
}
