package import KleosJSON
import KleosModel

/// One JSON-RPC 2.0 request.
package struct RPCRequest: Sendable, Equatable {
    /// The id, the bytes as they came; nil for a notification.
    package var id: [UInt8]?
    package var method: String
    package var parameters: JSONObject
    /// The text that `parameters` was parsed from, for members that are kept as they came.
    package var source: [UInt8]

    /// Makes a request to send.
    package init(id: Int64?, method: String, parameters: JSONObject) {
        self.id = id.map { Array(String($0).utf8) }
        self.method = method
        self.parameters = parameters
        source = []
    }

    private init(object: JSONObject, source: [UInt8], id: [UInt8]?) throws(RPCError) {
        guard object["jsonrpc"]?.stringValue == "2.0" else {
            throw RPCError(.invalidRequest, "a request needs \"jsonrpc\":\"2.0\"", field: "jsonrpc")
        }
        guard let method = object["method"]?.stringValue else {
            throw RPCError(.invalidRequest, "a request needs the name of its method, as a string", field: "method")
        }
        self.id = id
        self.method = method
        self.source = source
        switch object["params"] {
        case nil: parameters = JSONObject()
        case .object(let members): parameters = members
        default: throw RPCError(.invalidRequest, "params must be an object with named members", field: "params")
        }
    }

    /// One line of a client: a request, or a batch of them.
    package enum Line: Sendable, Equatable {
        case single(Parsed)
        case batch([Parsed])
    }

    /// A request, or why it is none; the id is kept where it could be read, so that the error reaches its sender.
    package struct Parsed: Sendable, Equatable {
        package var id: [UInt8]?
        package var request: Result<RPCRequest, RPCError>
    }

    /// Parses one line. Throws `RPCError` for a line that is no JSON, an empty batch or one that is too large.
    package static func parse(_ line: [UInt8]) throws(RPCError) -> Line {
        let value: JSONValue
        do {
            value = try JSONParser.parse(
                line, limits: JSONLimits(depth: Limits.jsonDepth, maximumBytes: Limits.requestBytes))
        } catch {
            throw RPCError(.parseError, "the line is no JSON: \(error)")
        }
        guard case .array(let elements) = value else { return .single(parse(value, source: line)) }
        guard !elements.isEmpty else { throw RPCError(.invalidRequest, "a batch must not be empty") }
        guard elements.count <= Limits.batchRequests else {
            throw RPCError(
                .tooLarge, "a batch has at most \(Limits.batchRequests) requests; this one has \(elements.count)")
        }
        return .batch(elements.map { parse($0, source: line) })
    }

    private static func parse(_ value: JSONValue, source: [UInt8]) -> Parsed {
        guard case .object(let object) = value else {
            return Parsed(id: nil, request: .failure(RPCError(.invalidRequest, "a request is an object")))
        }
        var id: [UInt8]?
        let member = object.member("id")
        switch member?.value {
        case nil, .null: break
        case .string, .number: id = member.map { Array(source[$0.sourceRange]) }
        default:
            let error = RPCError(.invalidRequest, "the id must be a string or a number", field: "id")
            return Parsed(id: nil, request: .failure(error))
        }
        do throws(RPCError) {
            return Parsed(id: id, request: .success(try RPCRequest(object: object, source: source, id: id)))
        } catch {
            return Parsed(id: id, request: .failure(error))
        }
    }

    /// The request as one line, with its line feed.
    package var line: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.write(raw: "{\"jsonrpc\":\"2.0\"".utf8)
        if let id {
            writer.write(raw: ",\"id\":".utf8)
            writer.write(raw: id)
        }
        writer.write(raw: ",\"method\":".utf8)
        writer.write(string: method)
        writer.write(raw: ",\"params\":".utf8)
        writer.write(.object(parameters))
        writer.write(raw: "}\n".utf8)
        return writer.bytes
    }
}
