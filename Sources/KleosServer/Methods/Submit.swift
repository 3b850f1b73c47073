import KleosConfig
import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

/// A checked submission on its way to the store.
struct PendingSubmit: Sendable {
    var token: ReplyToken
    var event: Event
    var fanOut: [FanOut]
}

extension Server {
    /// Submissions handed to the store together; keeps one client's turn in a transaction short.
    private static let bundleEvents = 64

    /// Checks a submission and adds it to those of this turn.
    func submit(
        _ request: RPCRequest, _ token: ReplyToken, _ connection: Connection, now: ClockReading
    ) throws(RPCError) {
        let (submission, ignored) = try Submission.parse(request)
        let (event, fanOut) = try checked(
            submission, of: connection.peer, submitter: connection.submitter, now: now)
        var token = token
        token.ignored = ignored
        connection.bundle.append(PendingSubmit(token: token, event: event, fanOut: fanOut))
        if connection.bundle.count >= Self.bundleEvents { submitBundle(of: connection) }
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
        let fanOut = SubmissionRules.fanOut(resolved.subject, in: game, endpoints: settings.endpoints)
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
        let isGranted = users[uid, default: UserAccount()].takeEvent(
            perMinute: perMinute, nowMilliseconds: now.monotonicMilliseconds)
        guard isGranted else {
            throw RPCError(.rateLimited, "one user may submit \(perMinute) events a minute; try again later")
        }
    }

    /// Hands the gathered submissions to the store.
    func submitBundle(of connection: Connection) {
        guard !connection.bundle.isEmpty else { return }
        let submits = connection.bundle
        connection.bundle = []
        store.perform(lane: connection.lane) { outbox throws(StoreError) in
            var results: [AcceptResult] = []
            results.reserveCapacity(submits.count)
            for submit in submits { results.append(try outbox.accept(submit.event, fanOut: submit.fanOut)) }
            return results
        } then: { [self] result in
            self.async { $0.submitted(submits, result) }
        }
    }

    private func submitted(_ submits: [PendingSubmit], _ result: Result<[AcceptResult], StoreError>) {
        switch result {
        case .success(let results):
            for (submit, result) in zip(submits, results) { answer(submit.token, result) }
        case .failure(let error):
            let failure = failure(error)
            for submit in submits { reply(submit.token, .failure(failure)) }
        }
    }

    private func answer(_ token: ReplyToken, _ result: AcceptResult) {
        switch result {
        case .accepted(let key): accepted(token, key)
        case .superseded(let key): accepted(token, key, isSuperseded: true)
        case .duplicate(let key, let isSuperseded):
            accepted(token, key, isSuperseded: isSuperseded, isDuplicate: true)
        case .idConflict(let existing):
            let error = RPCError(
                .idConflict, "the id was used before, for another event; give each event an id of its own",
                field: "id", details: JSONObject(name: "key", value: .string(existing.description)))
            reply(token, .failure(error))
        case .queueFull(let message): reply(token, .failure(RPCError(.queueFull, message)))
        }
    }

    /// Writes the answer's bytes directly: this is the one answer that comes by the thousand.
    private func accepted(_ token: ReplyToken, _ key: EventKey, isSuperseded: Bool = false, isDuplicate: Bool = false) {
        var writer = JSONWriter(capacity: 160)
        writer.write(raw: "{\"jsonrpc\":\"2.0\",\"id\":".utf8)
        writer.write(raw: token.id ?? Array("null".utf8))
        writer.write(raw: ",\"result\":{\"key\":\"".utf8)
        writer.write(raw: key.description.utf8)
        writer.write(raw: (isSuperseded ? "\",\"state\":\"superseded\"" : "\",\"state\":\"accepted\"").utf8)
        writer.write(raw: (isDuplicate ? ",\"duplicate\":true" : ",\"duplicate\":false").utf8)
        if !token.ignored.isEmpty {
            writer.write(raw: ",\"ignored\":".utf8)
            writer.write(.array(token.ignored.map(JSONValue.string)))
        }
        writer.write(raw: "}}".utf8)
        finish(token, writer.bytes)
    }
}

extension JSONObject {
    /// Makes an object of one member.
    init(name: String, value: JSONValue) {
        self.init()
        self[name] = value
    }
}
