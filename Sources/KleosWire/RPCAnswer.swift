package import KleosJSON
import KleosModel

/// Answers and notifications of the daemon, as lines.
package enum RPCAnswer {
    /// A result's answer, without its line feed; `id` as it came.
    package static func result(_ result: JSONValue, id: [UInt8]) -> [UInt8] {
        message(id: id, member: "result", value: result)
    }

    /// An error's answer, without its line feed; a nil `id` is written as null.
    package static func error(_ error: RPCError, id: [UInt8]?) -> [UInt8] {
        message(id: id ?? Array("null".utf8), member: "error", value: error.json)
    }

    /// A batch's answer, without its line feed, from the answers to its requests.
    package static func batch(_ answers: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, answer) in answers.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += answer
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// A notification to a subscriber, without its line feed.
    package static func notification(method: String, parameters: JSONValue) -> [UInt8] {
        let message: JSONValue = ["jsonrpc": "2.0", "method": .string(method), "params": parameters]
        return message.serializedBytes
    }

    private static func message(id: [UInt8], member: StaticString, value: JSONValue) -> [UInt8] {
        var writer = JSONWriter(capacity: 192)
        writer.write(literal: "{\"jsonrpc\":\"2.0\",\"id\":")
        writer.write(raw: id)
        writer.write(literal: ",\"")
        writer.write(literal: member)
        writer.write(literal: "\":")
        writer.write(value)
        writer.write(raw: [UInt8(ascii: "}")])
        return writer.bytes
    }
}

/// One line of the daemon, as a client reads it.
package enum RPCIncoming: Sendable, Equatable {
    /// The answer to the request with this id.
    case answer(id: Int64, Result<JSONValue, RPCError>)
    /// An error that belongs to no request.
    case failure(RPCError)
    case notification(method: String, parameters: JSONValue)

    /// Reads one line. Throws `RPCError` with reason `parse-error` where the daemon sent something else.
    package static func parse(_ line: [UInt8]) throws(RPCError) -> RPCIncoming {
        let value: JSONValue
        do {
            value = try JSONParser.parse(line, limits: JSONLimits(depth: 64, maximumBytes: Limits.answerBytes))
        } catch {
            throw RPCError(.parseError, "the daemon's answer is no JSON: \(error)")
        }
        if let method = value["method"]?.stringValue {
            return .notification(method: method, parameters: value["params"] ?? .null)
        }
        let failure = value["error"].flatMap(RPCError.init(json:))
        guard let id = value["id"]?.int64Value else {
            guard let failure else { throw RPCError(.parseError, "the daemon's answer has no id") }
            return .failure(failure)
        }
        if let failure { return .answer(id: id, .failure(failure)) }
        guard let result = value["result"] else {
            throw RPCError(.parseError, "the daemon's answer has neither result nor error")
        }
        return .answer(id: id, .success(result))
    }
}
