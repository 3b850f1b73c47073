import KleosJSON
import KleosModel
import KleosSupport

/// The default contract and the pages about it: requests in, reactions out. Does no I/O.
struct PracticeService {
    var store: PracticeStore
    var faults = FaultState()
    var log: RequestLog
    /// The token that submissions must bring; nil where none is needed.
    let token: String?
    /// Grows with each change of what the pages show.
    private(set) var version = 0
    private var keysInProgress: Set<String> = []

    init(store: PracticeStore, token: String?, keptRequests: Int) {
        self.store = store
        self.token = token
        log = RequestLog(capacity: keptRequests)
    }

    /// Answers one request that came at `nowMilliseconds`.
    mutating func handle(_ request: HTTPRequest, nowMilliseconds: Int64) -> Reaction {
        if request.path == "/events", request.method == "GET" { return Self.stream }
        if let answer = page(request) { return Reaction(answer: answer) }
        let record = RequestRecord(number: log.total + 1, atMilliseconds: nowMilliseconds, request: request)
        return submission(request, record)
    }

    private static let stream = Reaction(
        answer: HTTPAnswer(
            status: 200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]),
        delivery: .stream)

    /// Replaces the faults.
    mutating func setFaults(_ new: Faults) {
        faults.set(new)
        version += 1
    }

    /// The delay of a request with `key` is over.
    mutating func release(_ key: String) {
        keysInProgress.remove(key)
    }

    private mutating func submission(_ request: HTTPRequest, _ base: RequestRecord) -> Reaction {
        var record = base
        let decision = faults.decide(nowMilliseconds: record.atMilliseconds)
        record.fault = decision.name
        var reaction: Reaction
        switch decision.step {
        case .ok, .reset, .drop:
            reaction = process(request, &record)
        default:
            record.key = Self.key(request)
            reaction = Reaction(answer: faultAnswer(decision))
        }
        faults.finishRequest()
        switch decision.step {
        case .close, .drop: reaction.delivery = .close
        case .never: reaction.delivery = .never
        case .reset: reaction.delivery = .reset(afterBytes: decision.resetAfterBytes)
        default: record.status = reaction.answer.status
        }
        if decision.delayMilliseconds > 0 {
            reaction.delayMilliseconds = decision.delayMilliseconds
            if reaction.effect != nil, let key = record.key {
                reaction.heldKey = key
                keysInProgress.insert(key)
            }
        }
        log.add(record)
        version += 1
        return reaction
    }

    private func faultAnswer(_ decision: FaultState.Decision) -> HTTPAnswer {
        switch decision.step {
        case .status(let status):
            let code = Self.code(for: status)
            var answer = HTTPAnswer.error(status, code, "the practice endpoint was told to answer \(status)")
            if status == 429 || status == 503, let text = decision.retryAfter {
                answer.headers.append(("Retry-After", text))
            }
            if status == 401 { answer.headers.append(("WWW-Authenticate", "Bearer")) }
            return answer
        case .html:
            return HTTPAnswer(
                status: 200, headers: [("Content-Type", "text/html; charset=utf-8")], body: Array(Self.loginPage.utf8))
        case .redirect:
            let target = faults.faults.redirect ?? "http://login.invalid/"
            return HTTPAnswer(status: 302, headers: [("Location", target)])
        default:
            return HTTPAnswer(status: 503)
        }
    }

    private static let loginPage = """
        <!DOCTYPE html><html lang="en"><title>Sign in</title><h1>Welcome to the network</h1>\
        <form action="/login"><input name="room"><button>Connect</button></form></html>
        """

    private static func code(for status: Int) -> String {
        switch status {
        case 401: "unauthorized"
        case 403: "forbidden"
        case 404: "not-found"
        case 409: "in-progress"
        case 422: "rejected"
        case 429: "rate-limited"
        case 503: "unavailable"
        default: status < 500 ? "bad-request" : "internal-error"
        }
    }
}

// MARK: - Submissions

extension PracticeService {
    private mutating func process(_ request: HTTPRequest, _ record: inout RequestRecord) -> Reaction {
        do throws(Rejection) {
            return try accept(request, &record)
        } catch {
            record.code = error.code
            var answer = error.answer
            if error.status == 401 { answer.headers.append(("WWW-Authenticate", "Bearer")) }
            if error.status == 405 { answer.headers.append(("Allow", "POST")) }
            return Reaction(answer: answer)
        }
    }

    private mutating func accept(
        _ request: HTTPRequest, _ record: inout RequestRecord
    ) throws(Rejection) -> Reaction {
        let path = request.path
        guard path == "/v1/scores" || path == "/v1/achievements" else {
            throw Rejection(404, "not-found", "there is nothing at \(path)")
        }
        guard request.method == "POST" else {
            throw Rejection(405, "method-not-allowed", "\(path) takes POST only")
        }
        record.key = Self.key(request)
        try authorize(request)
        let type = request.header("content-type")?.prefix { $0 != ";" && $0 != " " }
        guard type?.lowercased() == "application/json" else {
            throw Rejection(415, "unsupported-media-type", "the body must be application/json")
        }
        let body: JSONValue
        do {
            body = try JSONParser.parse(request.body)
        } catch {
            throw Rejection(400, "invalid-json", "\(error)")
        }
        let submission =
            try path == "/v1/scores" ? Submission(score: body) : Submission(achievement: body)
        record.game = submission.game
        record.item = submission.item
        record.player = submission.player
        record.value = submission.valueText
        try checkKey(request, submission)
        return try settle(submission, request, body, &record)
    }

    private mutating func settle(
        _ submission: Submission, _ request: HTTPRequest, _ body: JSONValue, _ record: inout RequestRecord
    ) throws(Rejection) -> Reaction {
        let path = request.path
        let fingerprint = PracticeStore.fingerprint(path: path, body: request.body)
        if let known = store.keys[submission.key] {
            guard known.fingerprint == fingerprint else {
                throw Rejection(422, "idempotency-key-reused", "this key came before with another body")
            }
            guard !keysInProgress.contains(submission.key) else {
                throw Rejection(409, "in-progress", "the first request with this key is still at work")
            }
            record.isReplay = true
            var answer = Self.confirmation(known.answer)
            answer.headers.append(("Idempotent-Replayed", "true"))
            return Reaction(answer: answer)
        }
        if case .players(let players) = faults.faults.unauthorized, players.contains(submission.player) {
            record.fault = "unauthorized"
            throw Rejection(401, "unauthorized", "this player has to sign in")
        }
        if let rule = faults.faults.rejectWhere.first(where: { $0.matches(submission) }) {
            record.fault = "rejectWhere"
            throw Rejection(rule.status, rule.code, rule.message)
        }
        let answer = try store.accept(submission, fingerprint: fingerprint)
        record.tookEffect = true
        var reaction = Reaction(answer: Self.confirmation(answer))
        reaction.effect = Reaction.Effect(path: path, body: request.body, parsed: body, fingerprint: fingerprint)
        return reaction
    }

    private static func confirmation(_ body: [UInt8]) -> HTTPAnswer {
        HTTPAnswer(status: 200, headers: [("Content-Type", "application/json")], body: body)
    }

    private func authorize(_ request: HTTPRequest) throws(Rejection) {
        guard let token else { return }
        guard request.header("authorization") == "Bearer \(token)" else {
            throw Rejection(401, "unauthorized", "a valid bearer token is required")
        }
    }

    private func checkKey(_ request: HTTPRequest, _ submission: Submission) throws(Rejection) {
        guard request.header("idempotency-key") != nil else {
            throw Rejection(400, "missing-idempotency-key", "the header Idempotency-Key is required")
        }
        guard let key = Self.key(request) else {
            throw Rejection(400, "invalid-idempotency-key", "Idempotency-Key must be a string in double quotes")
        }
        guard key == submission.key else {
            throw Rejection(400, "invalid-idempotency-key", "\"key\" in the body differs from Idempotency-Key")
        }
    }

    /// The idempotency key without its quotes; nil where it is absent or no quoted string.
    private static func key(_ request: HTTPRequest) -> String? {
        guard let value = request.header("idempotency-key"), value.utf8.count >= 3, value.utf8.count <= 130,
            value.hasPrefix("\""), value.hasSuffix("\""), !value.dropFirst().dropLast().utf8.contains(0x22)
        else { return nil }
        return String(value.dropFirst().dropLast())
    }
}
