import KleosJSON
import KleosModel
import KleosWire
import Testing

/// The JSON-RPC envelope of requests.
@Suite struct RequestTests {
    @Test(arguments: ["1", "-7", "1.50", "123456789012345678901234567890", #""a""#, #""\u0041\n""#, #""""#])
    func keepsTheIDAsItCame(id: String) throws {
        let parsed = try single(#"{"jsonrpc":"2.0","id": \#(id) ,"method":"hello"}"#)
        #expect(parsed.id == Array(id.utf8))
        #expect(try parsed.request.get().id == Array(id.utf8))
        let answer = RPCAnswer.result([:], id: try #require(parsed.id))
        #expect(String(decoding: answer, as: UTF8.self) == #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#)
    }

    @Test(arguments: [#"{"jsonrpc":"2.0","method":"hello"}"#, #"{"jsonrpc":"2.0","id":null,"method":"hello"}"#])
    func hasNoIDToAnswer(line: String) throws {
        #expect(try single(line).request.get().id == nil)
    }

    @Test func readsMethodAndParameters() throws {
        let request = try single(#"{"params":{"a":1},"method":"x.y","jsonrpc":"2.0","id":1,"extra":0}"#).request.get()
        #expect(request.method == "x.y")
        #expect(request.parameters["a"] == 1)
    }

    @Test(
        arguments: [
            (#"{"id":5,"method":"hello"}"#, "5", "jsonrpc"),
            (#"{"jsonrpc":"1.0","id":5,"method":"hello"}"#, "5", "jsonrpc"),
            (#"{"jsonrpc":2.0,"id":5,"method":"hello"}"#, "5", "jsonrpc"),
            (#"{"jsonrpc":"2.0","id":5}"#, "5", "method"),
            (#"{"jsonrpc":"2.0","id":5,"method":7}"#, "5", "method"),
            (#"{"jsonrpc":"2.0","id":5,"method":"hello","params":[1]}"#, "5", "params"),
            (#"{"jsonrpc":"2.0","id":5,"method":"hello","params":null}"#, "5", "params"),
            (#"{"jsonrpc":"2.0","id":5,"method":"hello","params":"x"}"#, "5", "params"),
            (#"{"jsonrpc":"2.0","id":true,"method":"hello"}"#, nil, "id"),
            (#"{"jsonrpc":"2.0","id":{},"method":"hello"}"#, nil, "id"),
            (#"{"jsonrpc":"2.0","id":[1],"method":"hello"}"#, nil, "id"),
            ("7", nil, nil), ("\"hello\"", nil, nil), ("null", nil, nil),
        ] as [(String, String?, String?)])
    func isNoRequest(line: String, id: String?, field: String?) throws {
        let parsed = try single(line)
        #expect(parsed.id == id.map { Array($0.utf8) })
        let error = #expect(throws: RPCError.self) { try parsed.request.get() }
        #expect(error?.knownReason == .invalidRequest)
        #expect(error?.code == -32_600)
        #expect(error?.field == field)
    }

    @Test(arguments: [
        "", "hello", "{", #"{"jsonrpc":"2.0","id":1,"method":"hello",}"#,
        #"{"jsonrpc":"2.0","id":1,"id":2,"method":"hello"}"#, #"{"jsonrpc":"2.0","method":"a","\u006dethod":"b"}"#,
        "\u{FEFF}{}", "{}{}", "[\(String(repeating: "[", count: 32))", "{\u{0}}",
    ])
    func isNoJSON(line: String) {
        let error = #expect(throws: RPCError.self) { try RPCRequest.parse(Array(line.utf8)) }
        #expect(error?.knownReason == .parseError)
        #expect(error?.code == -32_700)
        #expect(error?.message.contains("at byte") == true)
    }

    @Test func takesABatchRequestByRequest() throws {
        let line = #"[{"jsonrpc":"2.0","id":"a","method":"submit","params":{"metadata":{ "x":1.0 }}},5]"#
        guard case .batch(let requests) = try RPCRequest.parse(Array(line.utf8)) else {
            Issue.record("no batch")
            return
        }
        #expect(requests.map(\.id) == [Array(#""a""#.utf8), nil])
        var reader = ParameterReader(try requests[0].request.get())
        #expect(try reader.objectSource("metadata") == Array(#"{ "x":1.0 }"#.utf8))
        #expect(throws: RPCError.self) { try requests[1].request.get() }
    }

    @Test func limitsBatches() throws {
        func batch(_ count: Int) -> [UInt8] {
            Array("[\(Array(repeating: "{}", count: count).joined(separator: ","))]".utf8)
        }
        guard case .batch(let requests) = try RPCRequest.parse(batch(64)) else {
            Issue.record("no batch")
            return
        }
        #expect(requests.count == 64)
        let tooLarge = #expect(throws: RPCError.self) { try RPCRequest.parse(batch(65)) }
        #expect(tooLarge?.knownReason == .tooLarge)
        let empty = #expect(throws: RPCError.self) { try RPCRequest.parse(batch(0)) }
        #expect(empty?.knownReason == .invalidRequest)
    }

    @Test func isWrittenAsOneLine() throws {
        let request = RPCRequest(id: 3, method: "a\"b", parameters: JSONObject(["text": "x\ny"]))
        let text = String(decoding: request.line, as: UTF8.self)
        #expect(text == #"{"jsonrpc":"2.0","id":3,"method":"a\"b","params":{"text":"x\ny"}}"# + "\n")
        let notification = RPCRequest(id: nil, method: "presence", parameters: JSONObject())
        #expect(String(decoding: notification.line, as: UTF8.self).contains("id") == false)
    }

    private func single(_ line: String) throws -> RPCRequest.Parsed {
        guard case .single(let parsed) = try RPCRequest.parse(Array(line.utf8)) else {
            throw RPCError(.internalError, "a batch")
        }
        return parsed
    }
}
