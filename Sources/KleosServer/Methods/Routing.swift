import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

extension Server {
    /// Room in a batch's answer for the errors that stand in for answers that are too large.
    private static let batchReserveBytes = 32_768

    /// Takes up one line.
    func take(_ line: [UInt8], from connection: Connection, now: ClockReading) {
        do throws(RPCError) {
            switch try RPCRequest.parse(line) {
            case .single(let parsed): begin(parsed, slot: nil, bytes: line.count, from: connection, now: now)
            case .batch(let requests):
                let number = nextNumber()
                connection.batches[number] = BatchAnswer(count: requests.count)
                let bytes = line.count / requests.count
                for (index, parsed) in requests.enumerated() {
                    begin(parsed, slot: .init(batch: number, index: index), bytes: bytes, from: connection, now: now)
                }
            }
        } catch {
            send(RPCAnswer.error(error, id: nil), to: connection)
        }
    }

    private func begin(
        _ parsed: RPCRequest.Parsed, slot: ReplyToken.BatchSlot?, bytes: Int, from connection: Connection,
        now: ClockReading
    ) {
        var token = ReplyToken(
            connection: connection.id, uid: connection.peer.uid, id: parsed.id, slot: slot, bytes: bytes)
        openAccount(connection, bytes: bytes)
        do throws(RPCError) {
            let request = try parsed.request.get()
            let method = try method(of: request, on: connection)
            if method == .submit { return try submit(request, token, connection, now: now) }
            // What was submitted before is in the store before it is asked.
            submitBundle(of: connection)
            token.ignored = KnownParameters.ignored(by: method, in: request)
            token.isHeavy = method.mayHaveLargeAnswer
            if token.isHeavy { connection.unansweredHeavy += 1 }
            try dispatch(method, request, token, connection, now: now)
        } catch {
            reply(token, .failure(error))
        }
    }

    private func method(of request: RPCRequest, on connection: Connection) throws(RPCError) -> Method {
        guard let method = Method(rawValue: request.method) else {
            let nearest = Spelling.nearest(to: request.method, in: Method.allCases.map(\.rawValue))
            let hint = nearest.map { "; did you mean \($0)?" } ?? ""
            throw RPCError(.unknownMethod, "there is no method \(Self.excerpt(request.method))\(hint)", field: "method")
        }
        if connection.role == .control, !isOperator(connection.peer) {
            throw RPCError(
                .notPermitted, "the control socket is for root, the daemon's user and its group of administrators")
        }
        if method.needsControl, connection.role != .control {
            throw RPCError(.notPermitted, "\(method.rawValue) is answered on control.sock only", field: "method")
        }
        guard request.id != nil || method == .presence else {
            throw RPCError(
                .idRequired, "\(method.rawValue) needs a JSON-RPC id, because its answer matters", field: "id")
        }
        if let fault = settings.fault, !method.needsNoConfiguration {
            let details = isOperator(connection.peer) ? ":\n\(fault.details)" : ""
            throw RPCError(
                .unavailable,
                "the daemon's configuration has errors, and nothing is taken until they are mended\(details)")
        }
        return method
    }

    /// Whether `peer` is root, the daemon's own user or of the group of operators.
    func isOperator(_ peer: PeerIdentity) -> Bool {
        peer.uid == 0 || peer.uid == settings.daemonUID || (settings.controlGID.map(peer.groups.contains) ?? false)
    }

    private func dispatch(
        _ method: Method, _ request: RPCRequest, _ token: ReplyToken, _ connection: Connection, now: ClockReading
    ) throws(RPCError) {
        switch method {
        case .submit: break
        case .hello: hello(token, connection)
        case .list: list(try ListParameters(request), token, connection)
        case .show: show(try ShowParameters(request), token, connection)
        case .status: status(token, connection)
        case .standing: try standing(try StandingParameters(request), token, connection)
        case .notices: notices(try NoticesParameters(request), token, connection)
        case .claimNotices: claimNotices(try ClaimNoticesParameters(request), token, connection, now: now)
        case .acknowledgeNotices:
            acknowledgeNotices(try AcknowledgeNoticesParameters(request), token, connection, now: now)
        case .openNotice: openNotice(try OpenNoticeParameters(request), token, connection)
        case .subscribe: subscribe(try SubscribeParameters(request), token, connection)
        case .presence: try presence(try PresenceParameters(request), token, connection)
        case .register: try register(try RegisterParameters(request), token, connection)
        case .retry, .hold, .release, .discard:
            operate(method, try OperateParameters(request), token, connection, now: now)
        case .pause, .resume: try steer(method, try EndpointParameters(request, needsEndpoint: true), token, connection)
        case .flush: try steer(method, try EndpointParameters(request, needsEndpoint: false), token, connection)
        case .reload: reload(token, connection)
        case .config: config(token)
        case .backup: backup(token, connection)
        case .salvage: salvage(try SalvageParameters(request), token, connection)
        case .forget: forget(try ForgetParameters(request), token, now: now)
        case .adopt, .reset: claimClone(method, token)
        case .exportEvents: try exportEvents(try ExportParameters(request), token)
        case .importEvents: try importEvents(try ImportParameters(request), token)
        }
    }

    // MARK: Answers

    /// Answers a request; called once for each token.
    func reply(_ token: ReplyToken, _ result: Result<JSONValue, RPCError>) {
        switch result {
        case .failure(let error): finish(token, RPCAnswer.error(error, id: token.id))
        case .success(var value):
            guard let id = token.id else { return finish(token, nil) }
            if !token.ignored.isEmpty, case .object(var object) = value {
                object["ignored"] = .array(token.ignored.map(JSONValue.string))
                value = .object(object)
            }
            let answer = RPCAnswer.result(value, id: id)
            finish(token, answer.count <= Limits.answerBytes ? answer : Self.tooLarge(id))
        }
    }

    private static func tooLarge(_ id: [UInt8]?) -> [UInt8] {
        let message = "the answer would have more than \(Limits.answerBytes) bytes; ask for less, and not in a batch"
        return RPCAnswer.error(RPCError(.tooLarge, message), id: id)
    }

    /// Hands over a finished answer; nil where none is wanted.
    func finish(_ token: ReplyToken, _ answer: [UInt8]?) {
        settleAccount(of: token.connection, uid: token.uid, count: 1, bytes: token.bytes)
        guard let connection = connections[token.connection] else { return }
        if token.isHeavy { connection.unansweredHeavy -= 1 }
        deliver(answer, to: token, on: connection)
    }

    /// Queues the answer of a request that is off the accounts; nil where none is wanted.
    func deliver(_ answer: [UInt8]?, to token: ReplyToken, on connection: Connection) {
        guard let slot = token.slot else {
            if let answer { send(answer, to: connection) }
            return
        }
        guard var batch = connection.batches.removeValue(forKey: slot.batch) else { return }
        let room = Limits.answerBytes - Self.batchReserveBytes - batch.bytes
        batch.set(answer.map { $0.count <= room ? $0 : Self.tooLarge(token.id) }, at: slot.index)
        guard let answers = batch.complete else {
            connection.batches[slot.batch] = batch
            return
        }
        if !answers.isEmpty { send(RPCAnswer.batch(answers), to: connection) }
    }

    /// Asks the store on behalf of a request, and answers with what `encode` makes of the result.
    func ask<Value: Sendable>(
        _ token: ReplyToken, _ work: @escaping @Sendable (Outbox) throws(StoreError) -> Value,
        encode: @escaping @Sendable (isolated Server, Value) -> Result<JSONValue, RPCError>
    ) {
        store.perform(lane: token.lane, work) { [self] result in
            self.async { server in
                switch result {
                case .success(let value): server.reply(token, encode(server, value))
                case .failure(let error): server.reply(token, .failure(server.failure(error)))
                }
            }
        }
    }

    /// As `ask`, for what is found by a walk: `turn` looks at a part of it behind a place and says where the next turn
    /// begins. Turns go on until `limit` are found or nothing is left; other work goes on in between.
    func gather<Value: Sendable>(
        _ token: ReplyToken, limit: Int,
        _ turn:
            @escaping @Sendable (_ outbox: Outbox, _ after: Int64, _ limit: Int) throws(StoreError) -> (
                found: [Value], next: Int64?
            ),
        encode: @escaping @Sendable (isolated Server, [Value]) -> Result<JSONValue, RPCError>
    ) {
        gather(token, limit: limit, after: 0, found: [], turn, encode: encode)
    }

    private nonisolated func gather<Value: Sendable>(
        _ token: ReplyToken, limit: Int, after: Int64, found: [Value],
        _ turn:
            @escaping @Sendable (_ outbox: Outbox, _ after: Int64, _ limit: Int) throws(StoreError) -> (
                found: [Value], next: Int64?
            ),
        encode: @escaping @Sendable (isolated Server, [Value]) -> Result<JSONValue, RPCError>
    ) {
        store.perform(lane: token.lane) { outbox throws(StoreError) in
            try turn(outbox, after, limit - found.count)
        } then: { [self] result in
            switch result {
            case .success(let page):
                let all = found + page.found
                if let next = page.next, all.count < limit {
                    return gather(token, limit: limit, after: next, found: all, turn, encode: encode)
                }
                self.async { server in server.reply(token, encode(server, all)) }
            case .failure(let error): self.async { server in server.reply(token, .failure(server.failure(error))) }
            }
        }
    }

    /// What a client is told about a failure of the store.
    func failure(_ error: StoreError) -> RPCError {
        switch error.kind {
        case .full: return RPCError(.queueFull, "nothing was recorded: \(error.message)")
        case .closed: return RPCError(.unavailable, "the daemon is stopping; try again")
        case .busy: return RPCError(.unavailable, error.message)
        case .invalidCursor:
            return RPCError(
                .invalidParameter, "cursor must be one that an earlier answer brought", field: "cursor")
        default:
            log(.error, "a request failed: \(error)")
            return RPCError(.internalError, "the daemon could not do it; its log says why")
        }
    }

    /// At most 64 bytes of a text that a client sent.
    static func excerpt(_ text: String) -> String {
        text.utf8.count <= 64 ? text : "\(ExactText.clipped(text, maximumBytes: 64))…"
    }
}

extension Method {
    /// Whether it is answered while the configuration has errors.
    var needsNoConfiguration: Bool {
        switch self {
        case .hello, .list, .show, .status, .notices, .reload, .config, .backup: true
        default: false
        }
    }

    /// Whether requests are limited in number because their answers may be large.
    var mayHaveLargeAnswer: Bool {
        switch self {
        case .hello, .submit, .subscribe, .presence, .acknowledgeNotices: false
        default: true
        }
    }
}
