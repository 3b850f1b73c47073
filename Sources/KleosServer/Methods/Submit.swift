import KleosConfig
import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

extension Server {
    /// Checks a submission and adds it to those of this turn.
    func submit(
        _ request: RPCRequest, _ token: ReplyToken, _ connection: Connection, now: ClockReading
    ) throws(RPCError) {
        let (submission, ignored) = try Submission.parse(request)
        let (event, fanOut) = try checked(
            submission, of: connection.peer, submitter: connection.submitter, now: now)
        var token = token
        token.ignored = ignored
        let following = min(connection.framer.pendingBytes, room(of: connection))
        connection.bundle.add(event, fanOut, token, following: following)
        if connection.bundle.isFull { submitBundle(of: connection) }
    }

    /// The event that a submission comes to, with its ways, where its user may submit it now. Throws `RPCError`.
    func checked(
        _ submission: Submission, of peer: PeerIdentity, submitter: @autoclosure () -> Submitter, now: ClockReading
    ) throws(RPCError) -> (Event, [FanOut]) {
        let game = try submissibleGame(submission.game, for: peer, unit: submitter().unit)
        try takeAllowance(of: peer.uid, now: now)
        let resolved: (player: String, subject: Subject)
        do throws(Rejection) {
            resolved = try SubmissionRules.resolve(submission, in: game)
        } catch {
            throw RPCError(error)
        }
        let fanOut = ways.fanOut(of: resolved.subject, in: game, endpoints: settings.endpoints)
        guard !fanOut.isEmpty else {
            throw RPCError(
                .unavailable, "the game \(game.id) has no endpoint to submit to; add Endpoints= to its file",
                field: "game")
        }
        var event = Event(
            key: EventKey.version7(wallMilliseconds: now.wallMilliseconds, random: &random),
            clientID: submission.clientID, game: game.id, player: resolved.player, subject: resolved.subject,
            occurredAtMilliseconds: submission.occurredAtMilliseconds, metadata: submission.metadata, recorded: now,
            submitter: submitter())
        event.wasTakenOver(atMilliseconds: submission.takenOverAtMilliseconds)
        return (event, fanOut)
    }

    /// The game `id`, where it is configured and the client may submit for it. Throws `RPCError`.
    func submissibleGame(_ id: String, for connection: Connection) throws(RPCError) -> Game {
        try submissibleGame(id, for: connection.peer, unit: connection.submitter.unit)
    }

    /// The same for a user whose process is of `unit`, nil where that is not known. Throws `RPCError`.
    private func submissibleGame(
        _ id: String, for peer: PeerIdentity, unit: @autoclosure () -> String?
    ) throws(RPCError) -> Game {
        guard let game = settings.games[id] else {
            let nearest = Spelling.nearest(to: id, in: Array(settings.games.keys))
            let hint = nearest.map { "; did you mean \($0)?" } ?? "; add a file for it to games.d"
            throw RPCError(.unknownGame, "there is no game \(Self.excerpt(id))\(hint)", field: "game")
        }
        guard game.permission.allows(uid: peer.uid, groups: peer.groups, daemonUID: settings.daemonUID) else {
            throw RPCError(
                .notPermitted,
                "you may not submit for the game \(id); AllowUsers= and AllowGroups= in its file say who may",
                field: "game")
        }
        // Asked of the kernel only where it matters.
        guard game.permission.units.isEmpty || game.permission.allows(unit: unit(), uid: peer.uid) else {
            let place = unit() ?? "a process whose systemd unit is not known"
            throw RPCError(
                .notPermitted,
                "you may not submit for the game \(id) from \(Self.excerpt(place)); AllowUnits= in its file says which "
                    + "units may", field: "game")
        }
        return game
    }

    private func takeAllowance(of uid: UInt32, now: ClockReading) throws(RPCError) {
        guard let perMinute = settings.limits.eventsPerMinute else { return }
        let isGranted = account(of: uid).takeEvent(
            perMinute: perMinute, nowMilliseconds: now.monotonicMilliseconds)
        guard isGranted else {
            throw RPCError(.rateLimited, "one user may submit \(perMinute) events a minute; try again later")
        }
    }

    /// Hands the gathered submissions to the store.
    func submitBundle(of connection: Connection) {
        guard !connection.bundle.isEmpty else { return }
        let bundle = connection.bundle
        connection.bundle = SubmitBundle()
        let events = bundle.events
        let tokens = bundle.tokens
        store.perform(lane: connection.lane) { outbox throws(StoreError) in
            var results: [AcceptResult] = []
            results.reserveCapacity(events.count)
            for submit in events {
                var event = submit.event
                event.key = try outbox.key(event.key)
                results.append(try outbox.accept(event, fanOut: submit.fanOut))
            }
            return results
        } then: { [self] result in
            self.async { $0.submitted(tokens, result) }
        }
    }

    /// Answers a bundle, whose requests all came over one connection.
    private func submitted(_ tokens: [ReplyToken], _ result: Result<[AcceptResult], StoreError>) {
        guard let first = tokens.first else { return }
        let bytes = tokens.reduce(0) { $0 + $1.bytes }
        settleAccount(of: first.connection, uid: first.uid, count: tokens.count, bytes: bytes)
        guard let connection = connections[first.connection] else { return }
        switch result {
        case .success(let results):
            for (token, result) in zip(tokens, results) { answer(token, result, on: connection) }
        case .failure(let error):
            let failure = failure(error)
            for token in tokens { deliver(RPCAnswer.error(failure, id: token.id), to: token, on: connection) }
        }
    }

    private func answer(_ token: ReplyToken, _ result: AcceptResult, on connection: Connection) {
        let error: RPCError
        switch result {
        case .accepted(let key): return accepted(AcceptedAnswer(token, key), token, on: connection)
        case .superseded(let key):
            return accepted(AcceptedAnswer(token, key, isSuperseded: true), token, on: connection)
        case .duplicate(let key, let isSuperseded):
            let answer = AcceptedAnswer(token, key, isSuperseded: isSuperseded, isDuplicate: true)
            return accepted(answer, token, on: connection)
        case .idConflict(let existing):
            error = RPCError(
                .idConflict, "the id was used before, for another event; give each event an id of its own",
                field: "id", details: JSONObject(name: "key", value: .string(existing.description)))
        case .queueFull(let message): error = RPCError(.queueFull, message)
        }
        deliver(RPCAnswer.error(error, id: token.id), to: token, on: connection)
    }

    private func accepted(_ answer: AcceptedAnswer, _ token: ReplyToken, on connection: Connection) {
        guard token.slot == nil else { return deliver(answer.bytes, to: token, on: connection) }
        connection.output.appendLine { answer.write(to: &$0) }
    }
}

extension JSONObject {
    /// Makes an object of one member.
    init(name: String, value: JSONValue) {
        self.init()
        self[name] = value
    }
}
