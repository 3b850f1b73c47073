import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// A queue that was copied together with its machine: nothing of it goes on at both.
@Suite("Clones")
struct CloneTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore(log: Log(sink: { _, _ in }))
        maker = EventMaker(store.clock)
    }

    /// The queue in `folder` as a machine's daemon opens it.
    private func open(_ folder: TemporaryFolder, on machine: String = "machine-2") throws -> TemporaryStore {
        try TemporaryStore(
            folder: folder, clock: store.clock,
            options: StoreOptions(freeFloorBytes: 0, reserveBytes: 0, machineID: machine), log: Log(sink: { _, _ in }))
    }

    private func clone() throws -> TemporaryStore { try open(try store.snapshot()) }

    private func recover(_ store: TemporaryStore, atMostOnce endpoints: Set<String> = []) throws {
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: endpoints, now: now)
        }
    }

    private func adopt(_ store: TemporaryStore) throws -> CloneStep {
        let now = store.now
        return try store.run { (outbox) throws(StoreError) in try outbox.adopt(now: now) }
    }

    private func reset(_ store: TemporaryStore) throws -> CloneStep {
        let now = store.now
        return try store.run { (outbox) throws(StoreError) in try outbox.reset(now: now) }
    }

    private func isClone(_ store: TemporaryStore) throws -> Bool {
        try store.run { (outbox) throws(StoreError) in try outbox.storage().isClone }
    }

    private func pendingNotices(_ store: TemporaryStore) throws -> [EventKey] {
        let now = store.now
        return try store.run { (outbox) throws(StoreError) in
            try outbox.claimableNotices(uid: 1000, limit: 100, now: now).map(\.key)
        }
    }

    private func contradictions(_ store: TemporaryStore) throws -> [String]? {
        try store.store.withOutbox { outbox in try outbox.contradictions() }
    }

    /// Submits an event and brings it to its end, with a notice where it is delivered.
    private func settled(_ board: String, _ settlement: Settlement? = nil, in store: TemporaryStore) throws -> Event {
        let event = maker.score(1, board: board)
        try store.accept(event)
        let facts = NoticeFacts(kind: .score, item: board, value: ScoreValue(units: 1))
        let claim = try #require(try store.claim().first { $0.event.key == event.key })
        try store.settle(claim, settlement ?? .delivered(Confirmation(), notice: .news(facts)), .delivered)
        return event
    }

    @Test("A reset throws away what the other machine sends, and what that had replaced, and nothing of this one's")
    func reset() throws {
        let (worse, better) = (maker.score(1), maker.score(2))
        try store.accept(worse)
        try store.accept(better)
        let copy = try clone()
        let own = maker.score(3, board: "own")
        try copy.accept(own)
        #expect(try reset(copy) == CloneStep(changed: 1, hasMore: false))
        // The other machine sends the better one.
        #expect(try copy.state(worse) == .superseded)
        #expect(try copy.state(better) == .discarded)
        #expect(try copy.state(own) == .ready)
        #expect(try copy.claim().map(\.event.key) == [own.key])
        #expect(try isClone(copy) == false)
        #expect(try contradictions(copy) == [])
    }

    @Test("After a reset nothing of the other machine can go on here, be sent again, or be told")
    func resetOfTheRest() throws {
        let told = try settled("told", in: store)
        let dead = try settled("dead", .dead(.rejected, message: "no"), in: store)
        let held = maker.score(1, board: "held")
        try store.accept(held)
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in try outbox.hold(.keys([held.key]), now: now) }
        let copy = try clone()
        let ownDead = try settled("own dead", .dead(.rejected, message: "no"), in: copy)
        let ownTold = try settled("own told", in: copy)
        #expect(try reset(copy) == CloneStep(changed: 2, hasMore: false))
        #expect(try [dead, held].map { try copy.state($0) } == [.discarded, .discarded])
        #expect(try copy.state(told) == .delivered)
        #expect(try copy.state(ownDead) == .dead)
        #expect(try pendingNotices(copy) == [ownTold.key])
        let standings = try copy.run { (outbox) throws(StoreError) in
            try outbox.standings(StandingQuery(item: "told")).standings
        }
        #expect(standings.first?.confirmed != nil, "what the service shows is still known")
        #expect(try contradictions(copy) == [])
    }

    @Test("Until somebody says whose it is, no verb, no configuration and no notice lets the other machine's go on")
    func undecided() throws {
        let told = try settled("told", in: store)
        let dead = try settled("dead", .dead(.rejected, message: "no"), in: store)
        let (held, elsewhere) = (maker.score(1, board: "held"), maker.score(1, board: "elsewhere"))
        let (worse, better) = (maker.score(1), maker.score(2))
        for event in [held, worse, better] { try store.accept(event) }
        try store.accept(elsewhere, way("away"))
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in
            _ = try outbox.hold(.keys([held.key]), now: now)
            return try outbox.reconcile(games: ["g"], endpoints: ["home"], now: now)
        }
        let copy = try clone()
        let reports = try copy.run { (outbox) throws(StoreError) in
            _ = try outbox.reconcile(games: ["g"], endpoints: ["home", "away"], now: now)
            _ = try outbox.discard(.keys([better.key]), now: now)
            return [
                try outbox.retry(.keys([dead.key]), now: now), try outbox.release(.keys([held.key]), now: now),
                try outbox.release(.filter(DeliveryFilter()), now: now),
            ]
        }
        #expect(reports.map(\.changed) == [0, 0, 0])
        #expect(reports[0].unchanged.first?.reason.contains("adopt or reset it first") == true)
        #expect(try copy.state(worse) == .held)
        #expect(try copy.claim().isEmpty && copy.claim(endpoint: "away").isEmpty)
        #expect(try pendingNotices(copy).isEmpty)
        #expect(try adopt(copy) == CloneStep(changed: 2, hasMore: false))
        #expect(try copy.claim().map(\.event.key) == [worse.key])
        #expect(try copy.claim(endpoint: "away").map(\.event.key) == [elsewhere.key])
        #expect(try copy.state(held) == .held)
        #expect(try pendingNotices(copy) == [told.key])
        #expect(try contradictions(copy) == [])
    }

    @Test("What was in flight when the queue was copied is not sent twice, and what was asked for it holds")
    func inFlight() throws {
        let (sent, unwanted) = (maker.score(1, board: "sent"), maker.score(1, board: "unwanted"))
        try store.accept(sent, way("adding", merge: .none), way())
        try store.accept(unwanted)
        #expect(try store.claim().count + store.claim(endpoint: "adding").count == 3)
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in try outbox.discard(.keys([unwanted.key]), now: now) }
        let copy = try clone()
        try recover(copy, atMostOnce: ["adding"])
        #expect(try copy.state(sent, endpoint: "adding") == .dead)
        #expect(try copy.state(sent, endpoint: "home") == .held)
        #expect(try copy.state(unwanted) == .discarded)
        #expect(try copy.claim().isEmpty)
        #expect(try adopt(copy).changed == 1)
        #expect(try copy.claim().map(\.mayHaveTakenEffect) == [true])
        #expect(try copy.claim(endpoint: "adding").isEmpty)
    }

    @Test("A backup of another machine that is adopted holds what may have been delivered since")
    func restored() throws {
        let event = maker.score(1)
        try store.accept(event, way("adding", merge: .none), way())
        let folder = try store.snapshot()
        let target = try TemporaryFolder()
        _ = try Restore.run(
            folder.path("outbox.db"), into: target.path, clock: store.clock, log: Log(sink: { _, _ in }))
        let copy = try open(target)
        try recover(copy, atMostOnce: ["adding"])
        #expect(try adopt(copy).changed == 1)
        #expect(try copy.state(event, endpoint: "home") == .ready)
        #expect(try copy.all(DeliveryFilter(endpoint: "adding")).map(\.reason) == [.restored])
    }

    @Test("Killed half-way, it is a clone still, and the verb does the rest", arguments: [true, false])
    func killedHalfWay(isAdopted: Bool) throws {
        let events = (0..<450).map { maker.score(1, board: "b\($0)") }
        for event in events { try store.accept(event) }
        let copy = try clone()
        let first = isAdopted ? try adopt(copy) : try reset(copy)
        #expect(first == CloneStep(changed: 200, hasMore: true))
        let again = try open(try copy.snapshot())
        try recover(again)
        #expect(try isClone(again))
        #expect(try again.claim(1_000).isEmpty)
        #expect(try contradictions(again) == [])
        var step = first
        while step.hasMore { step = isAdopted ? try adopt(again) : try reset(again) }
        #expect(try isClone(again) == false)
        #expect(try again.claim(1_000).count == (isAdopted ? 450 : 0))
        #expect(try contradictions(again) == [])
    }

    @Test("An event that gets the number of one that was erased is this machine's")
    func numbersAreGivenAgain() throws {
        let (kept, erased) = (maker.score(1, board: "kept"), maker.score(1, board: "erased", player: "q"))
        try store.accept(kept)
        try store.accept(erased)
        let copy = try clone()
        let (target, now) = (
            ForgetTarget(player: "q", game: nil, recordedUntilMilliseconds: copy.now.wallMilliseconds), copy.now
        )
        #expect(
            try copy.run { (outbox) throws(StoreError) in try outbox.forgetEvents(target, after: 0, now: now) }.erased
                == 1
        )
        let own = maker.score(1, board: "own")
        try copy.accept(own)
        #expect(try reset(copy).changed == 1)
        #expect(try copy.state(kept) == .discarded)
        #expect(try copy.state(own) == .ready)
    }

    @Test("Back at its own machine it is still to be said whose it is")
    func cameBack() throws {
        let event = maker.score(1)
        try store.accept(event)
        let copy = try clone()
        copy.close()
        let back = try open(copy.folder, on: "machine-1")
        #expect(try isClone(back))
        #expect(try adopt(back).changed == 1)
        #expect(try back.state(event) == .ready)
        #expect(try isClone(back) == false)
    }
}
