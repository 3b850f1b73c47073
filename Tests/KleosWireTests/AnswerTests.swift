import KleosJSON
import KleosModel
import KleosWire
import Testing

/// Answers and errors, as they are written and as a client reads them.
@Suite struct AnswerTests {
    @Test(
        arguments: [
            (#"{"jsonrpc":"2.0","id":7,"result":{"a":1},"new":true}"#, .answer(id: 7, .success(["a": 1]))),
            (#"{"jsonrpc":"2.0","id":7,"result":null}"#, .answer(id: 7, .success(.null))),
            (
                #"{"jsonrpc":"2.0","id":7,"error":{"code":-32014,"message":"m","data":{"reason":"not-found"}}}"#,
                .answer(id: 7, .failure(RPCError(.notFound, "m")))
            ),
            (
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{"reason":"parse-error"}}}"#,
                .failure(RPCError(.parseError, "m"))
            ),
            (
                #"{"jsonrpc":"2.0","method":"delivery","params":{"key":"k"}}"#,
                .notification(method: "delivery", parameters: ["key": "k"])
            ),
        ] as [(String, RPCIncoming)])
    func isRead(line: String, incoming: RPCIncoming) throws {
        #expect(try RPCIncoming.parse(Array(line.utf8)) == incoming)
    }

    @Test(arguments: [
        "", "HTTP/1.1 400 Bad Request", "{}", #"{"id":7}"#, #"{"id":7,"error":"x"}"#, "[]", #"{"id":null}"#,
    ])
    func isNoAnswer(line: String) {
        let error = #expect(throws: RPCError.self) { try RPCIncoming.parse(Array(line.utf8)) }
        #expect(error?.knownReason == .parseError)
    }

    @Test func errorsComeBackWhole() throws {
        let error = RPCError(
            .idConflict, "a \"sentence\"\n", field: "id", details: JSONObject(["key": "k", "field": "x"]))
        let line = RPCAnswer.error(error, id: Array("12".utf8))
        var expected = error
        // What stands for itself is not overridden by details.
        expected.details["field"] = nil
        #expect(try RPCIncoming.parse(line) == .answer(id: 12, .failure(expected)))
        #expect(try RPCIncoming.parse(RPCAnswer.error(error, id: nil)) == .failure(expected))
    }

    @Test func wordsOfANewerDaemonAreKept() throws {
        let json = try JSONParser.parse(Array(#"{"code":-32099,"message":"m","data":{"reason":"moon-phase"}}"#.utf8))
        let error = try #require(RPCError(json: json))
        #expect(error.reason == "moon-phase")
        #expect(error.knownReason == nil)
        #expect(error.json["data"]?["reason"] == "moon-phase")
    }

    @Test func batchesAndNotificationsAreOneLine() throws {
        let batch = RPCAnswer.batch([RPCAnswer.result(1, id: [0x31]), RPCAnswer.result("a\nb", id: [0x32])])
        let text = #"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":2,"result":"a\nb"}]"#
        #expect(String(decoding: batch, as: UTF8.self) == text)
        let line = RPCAnswer.notification(method: Topic.notices.notificationMethod, parameters: ["title": "a\nb"])
        #expect(!line.contains(UInt8(ascii: "\n")))
        #expect(try RPCIncoming.parse(line) == .notification(method: "notice", parameters: ["title": "a\nb"]))
    }

    /// Games ship once: these numbers and words never change.
    @Test func reasonsAndCodesAreStable() {
        let expected: [String: Int] = [
            "parse-error": -32_700, "invalid-request": -32_600, "id-required": -32_600, "unknown-method": -32_601,
            "invalid-parameter": -32_602, "internal-error": -32_603, "unknown-game": -32_001,
            "unknown-leaderboard": -32_002, "unknown-achievement": -32_003, "unknown-endpoint": -32_004,
            "player-required": -32_005, "player-not-allowed": -32_006, "invalid-value": -32_007,
            "id-conflict": -32_008, "queue-full": -32_009, "not-permitted": -32_010, "too-large": -32_011,
            "rate-limited": -32_012, "too-many-connections": -32_013, "not-found": -32_014, "unavailable": -32_015,
            "reload-failed": -32_016,
        ]
        #expect(Dictionary(uniqueKeysWithValues: ErrorReason.allCases.map { ($0.rawValue, $0.code) }) == expected)
    }

    @Test(arguments: RejectionReason.allCases)
    func refusedSubmissionsKeepTheirReason(reason: RejectionReason) {
        let error = RPCError(Rejection(reason, field: "f", "m"))
        #expect(error.reason == reason.rawValue)
        #expect(error.field == "f")
        #expect(error.message == "m")
    }
}

extension JSONObject {
    /// An object of some members; for tests.
    init(_ members: KeyValuePairs<String, JSONValue>) {
        self.init()
        for (name, value) in members { self[name] = value }
    }
}
