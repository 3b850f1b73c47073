import KleosJSON
import KleosModel
import KleosWire

/// Each line is one line of a client, as the framer hands it over.
enum RequestFuzz {
    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        try checkSpool(bytes)
        for line in bytes.split(separator: 0x0A).prefix(64) {
            try checkSpool(Array(line))
            switch Result(catching: { () throws(RPCError) in try RPCRequest.parse(Array(line)) }) {
            case .failure(let error): try check(error, id: nil)
            case .success(.single(let parsed)): try check(parsed)
            case .success(.batch(let all)):
                try require((1...Limits.batchRequests).contains(all.count), "a batch of \(all.count)")
                for parsed in all { try check(parsed) }
            }
        }
    }

    /// The same bytes as a file of the spool: what is read is written as the same event.
    private static func checkSpool(_ bytes: [UInt8]) throws(FuzzFailure) {
        switch Result(catching: { () throws(RPCError) in try SpoolFile.parse(bytes) }) {
        case .failure(let error): try check(error, id: nil)
        case .success(let file):
            try require(file.submission.clientID != nil, "a file without an id was read")
            guard let again = try? SpoolFile.parse(file.bytes) else { return }
            try require(again == file, "a file of the spool reads differently than it was")
        }
    }

    private static func check(_ parsed: RPCRequest.Parsed) throws(FuzzFailure) {
        if let id = parsed.id {
            let value = try? JSONParser.parse(id)
            try require(value?.stringValue != nil || value?.numberValue != nil, "the id is neither string nor number")
        }
        switch parsed.request {
        case .failure(let error): try check(error, id: parsed.id)
        case .success(let request):
            try require(request.id == parsed.id, "the request has another id than its answer")
            try check(request)
        }
    }

    /// What the client is told: one line, within the limit, that a client can read.
    private static func check(_ error: RPCError, id: [UInt8]?) throws(FuzzFailure) {
        try require(error.knownReason != nil, "the reason \(error.reason) is none of the protocol's")
        try require(error.knownReason?.code == error.code, "the code \(error.code) is not that of \(error.reason)")
        let line = RPCAnswer.error(error, id: id)
        try require(line.count <= Limits.answerBytes && !line.contains(0x0A), "the error is no line of the protocol")
        let value = try? JSONParser.parse(line, limits: JSONLimits(maximumBytes: Limits.answerBytes))
        try require(value?["error"].flatMap(RPCError.init(json:)) == error, "the error reads differently than it was")
    }

    private static func check(_ request: RPCRequest) throws(FuzzFailure) {
        if let again = try rewritten(request) {
            try require(again.method == request.method, "the method changed in writing")
            try require(again.parameters == request.parameters, "the parameters changed in writing")
        }
        let parse: (RPCRequest) throws(RPCError) -> Submission = { (request) throws(RPCError) in
            try Submission.parse(request).submission
        }
        try check(request, "submit", parse) { $0.parameters }
        try check(request, "list", ListParameters.init) { $0.parameters }
        try check(request, "show", ShowParameters.init) { $0.parameters }
        try check(request, "standing", StandingParameters.init) { $0.parameters }
        try check(request, "notices", NoticesParameters.init) { $0.parameters }
        try check(request, "notices.open", OpenNoticeParameters.init) { $0.parameters }
        try check(request, "notices.claim", ClaimNoticesParameters.init) { $0.parameters }
        try check(request, "notices.acknowledge", AcknowledgeNoticesParameters.init) { $0.parameters }
        try check(request, "subscribe", SubscribeParameters.init) { $0.parameters }
        try check(request, "presence", PresenceParameters.init) { $0.parameters }
        try check(request, "register", RegisterParameters.init) { $0.parameters }
        try check(request, "hold", OperateParameters.init) { $0.parameters }
        for needsEndpoint in [true, false] {
            let read: (RPCRequest) throws(RPCError) -> EndpointParameters = { (request) throws(RPCError) in
                try EndpointParameters(request, needsEndpoint: needsEndpoint)
            }
            try check(request, "pause", read) { $0.parameters }
        }
        if let (submission, _) = try? Submission.parse(request) { try CatalogFuzz.check(submission) }
    }

    /// Reads the parameters as those of a method; what is written of them must read the same.
    private static func check<Message: Equatable>(
        _ request: RPCRequest, _ method: String, _ read: (RPCRequest) throws(RPCError) -> Message,
        write: (Message) -> JSONObject
    ) throws(FuzzFailure) {
        let message: Message
        do throws(RPCError) {
            message = try read(request)
        } catch {
            return try check(error, id: request.id)
        }
        let sent = RPCRequest(id: 1, method: method, parameters: write(message))
        guard let again = try rewritten(sent) else { return }
        try require(
            (try? read(again)) == message, "the parameters of \(method) read differently than they were written")
    }

    /// The request after it went over the wire; nil where other spelling made it too long for a line.
    private static func rewritten(_ request: RPCRequest) throws(FuzzFailure) -> RPCRequest? {
        let line = request.line.dropLast()
        guard line.count <= Limits.requestBytes else { return nil }
        try require(!line.contains(0x0A), "a request has more than one line")
        guard case .single(let parsed)? = try? RPCRequest.parse(Array(line)), case .success(let again) = parsed.request
        else { throw FuzzFailure(description: "a request that was written does not parse") }
        return again
    }
}

/// Submissions against a catalog with a bit of everything.
enum CatalogFuzz {
    private static let game = Game(
        id: "g", endpoints: ["home"], player: "ada", permission: SubmitPermission(isOpen: true),
        leaderboards: [
            Leaderboard(
                id: "b", order: .ascending, keep: .best, minimum: ScoreValue(units: 1),
                maximum: ScoreValue(units: 1_000_000)),
            Leaderboard(id: "fine", decimals: ScoreValue.maximumDecimals), Leaderboard(id: "sum", keep: .sum),
        ],
        achievements: [Achievement(id: "a"), Achievement(id: "stepwise", steps: 10)])

    static func check(_ submission: Submission) throws(FuzzFailure) {
        guard let (player, subject) = try? SubmissionRules.resolve(submission, in: game) else { return }
        try require((1...Limits.playerBytes).contains(player.utf8.count), "a player of \(player.utf8.count) bytes")
        switch subject {
        case .score(let board, let value):
            let again = try? ScoreValue(text: value.description, decimals: value.decimals)
            try require(again == value && again?.units == value.units, "the score \(value) reads as another")
            try require(board != "b" || (1...1_000_000).contains(value.units), "the score \(value) is out of range")
        case .achievement(let item, .progress(let percent)):
            try require((0...100).contains(percent), "a progress of \(percent) for \(item)")
        case .achievement(let item, .steps(let count)), .achievement(let item, .increment(let count)):
            try require(count >= 0 && item == "stepwise", "\(count) steps for \(item)")
        }
    }
}
