import KleosJSON
import KleosModel
import KleosWire

/// Each line is one line of a daemon, perhaps of a newer one, or of something that only listens at its socket.
enum AnswerFuzz {
    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        for line in bytes.split(separator: 0x0A).prefix(64) {
            switch try? RPCIncoming.parse(Array(line)) {
            case .answer(_, .success(let result)): try check(result)
            case .answer(_, .failure(let error)), .failure(let error):
                try require(RPCError(json: error.json) == error, "the error reads differently than it was written")
            case .notification(_, let parameters): try check(parameters)
            case nil: break
            }
        }
    }

    /// Whatever a value is taken for: what is understood of it is written, and understood the same.
    private static func check(_ value: JSONValue) throws(FuzzFailure) {
        try check(value, HelloAnswer.init(json:)) { $0.json }
        try check(value, SubmitAnswer.init(json:)) { $0.json }
        try check(value, ListAnswer.init(json:)) { $0.json }
        try check(value, DeliveryDetail.init(json:)) { $0.json }
        try check(value, StatusAnswer.init(json:)) { $0.json }
        try check(value, EndpointRow.init(json:)) { $0.json }
        try check(value, StandingAnswer.init(json:)) { $0.json() }
        try check(value, NoticesAnswer.init(json:)) { $0.json }
        try check(value, OperateAnswer.init(json:)) { $0.json }
    }

    private static func check<Message: Equatable>(
        _ value: JSONValue, _ read: (JSONValue) -> Message?, write: (Message) -> JSONValue
    ) throws(FuzzFailure) {
        guard let message = read(value) else { return }
        let written = write(message)
        let parsed = try? JSONParser.parse(
            written.serializedBytes, limits: JSONLimits(depth: 64, maximumBytes: 8 * Limits.answerBytes))
        try require(parsed == written, "a \(Message.self) does not survive the wire")
        try require(read(written) == message, "a \(Message.self) reads differently than it was written")
    }
}
