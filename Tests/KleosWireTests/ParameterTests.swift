import KleosJSON
import KleosModel
import KleosWire
import Testing

/// Bad parameters of every method: the reason, and the field at fault.
@Suite struct ParameterTests {
    @Test(arguments: [
        (#"{}"#, "invalid-parameter", "kind"),
        (#"{"kind":"medal","game":"g"}"#, "invalid-parameter", "kind"),
        (#"{"kind":7,"game":"g"}"#, "invalid-parameter", "kind"),
        (#"{"kind":"score"}"#, "invalid-parameter", "game"),
        (#"{"kind":"score","game":null}"#, "invalid-parameter", "game"),
        (#"{"kind":"score","game":["g"]}"#, "invalid-parameter", "game"),
        (#"{"kind":"score","game":"g","player":1}"#, "invalid-parameter", "player"),
        (#"{"kind":"score","game":"g","player":"a\u0000"}"#, "invalid-parameter", "player"),
        (#"{"kind":"score","game":"g","value":true}"#, "invalid-parameter", "value"),
        (#"{"kind":"score","game":"g","value":[1]}"#, "invalid-parameter", "value"),
        (#"{"kind":"achievement","game":"g","progress":"50"}"#, "invalid-parameter", "progress"),
        (#"{"kind":"achievement","game":"g","progress":50.5}"#, "invalid-value", "progress"),
        (#"{"kind":"achievement","game":"g","progress":1e-9223372036854775808}"#, "invalid-value", "progress"),
        (#"{"kind":"achievement","game":"g","steps":9223372036854775808}"#, "invalid-value", "steps"),
        (#"{"kind":"achievement","game":"g","increment":{}}"#, "invalid-parameter", "increment"),
        (#"{"kind":"score","game":"g","occurredAt":"2026-02-30T00:00:00Z"}"#, "invalid-parameter", "occurredAt"),
        (#"{"kind":"score","game":"g","occurredAt":"2026-02-01"}"#, "invalid-parameter", "occurredAt"),
        (#"{"kind":"score","game":"g","occurredAt":1.5}"#, "invalid-parameter", "occurredAt"),
        (#"{"kind":"score","game":"g","occurredAt":253402300800000}"#, "invalid-parameter", "occurredAt"),
        (#"{"kind":"score","game":"g","occurredAt":false}"#, "invalid-parameter", "occurredAt"),
        (#"{"kind":"score","game":"g","id":12}"#, "invalid-parameter", "id"),
        (#"{"kind":"score","game":"g","metadata":"{}"}"#, "invalid-parameter", "metadata"),
        (#"{"kind":"score","game":"g","metadata":[]}"#, "invalid-parameter", "metadata"),
    ])
    func submitRefuses(parameters: String, reason: String, field: String) throws {
        try expectRefusal(parameters, reason, field) { request throws(RPCError) in _ = try Submission.parse(request) }
    }

    @Test(arguments: [
        (#"{"states":["lost"]}"#, "invalid-parameter", "states"), (#"{"states":[1]}"#, "invalid-parameter", "states"),
        (#"{"states":{}}"#, "invalid-parameter", "states"), (#"{"limit":0}"#, "invalid-value", "limit"),
        (#"{"limit":501}"#, "invalid-value", "limit"), (#"{"limit":"5"}"#, "invalid-parameter", "limit"),
        (#"{"kind":"medal"}"#, "invalid-parameter", "kind"), (#"{"cursor":5}"#, "invalid-parameter", "cursor"),
        (#"{"text":5}"#, "invalid-parameter", "text"),
    ])
    func listRefuses(parameters: String, reason: String, field: String) throws {
        try expectRefusal(parameters, reason, field) { request throws(RPCError) in _ = try ListParameters(request) }
    }

    @Test(arguments: [
        (#"{}"#, "invalid-parameter", "keys"), (#"{"all":false}"#, "invalid-parameter", "keys"),
        (#"{"all":"yes"}"#, "invalid-parameter", "all"), (#"{"keys":["x"]}"#, "invalid-parameter", "keys"),
        (#"{"keys":7}"#, "invalid-parameter", "keys"), (#"{"keys":[]}"#, "invalid-parameter", "keys"),
        (
            "{\"keys\":[\(Array(repeating: #""k""#, count: 501).joined(separator: ","))]}", "too-large", "keys"
        ),
    ])
    func operatingRefuses(parameters: String, reason: String, field: String) throws {
        try expectRefusal(parameters, reason, field) { request throws(RPCError) in _ = try OperateParameters(request) }
    }

    @Test func othersRefuse() throws {
        try expectRefusal("{}", "invalid-parameter", "key") { request throws(RPCError) in
            _ = try ShowParameters(request)
        }
        try expectRefusal(#"{"key":"0193764f"}"#, "invalid-parameter", "key") { request throws(RPCError) in
            _ = try ShowParameters(request)
        }
        try expectRefusal(#"{"id":"one"}"#, "invalid-parameter", "game") { request throws(RPCError) in
            _ = try ShowParameters(request)
        }
        try expectRefusal("{}", "invalid-parameter", "game") { request throws(RPCError) in
            _ = try StandingParameters(request)
        }
        try expectRefusal(#"{"pending":1}"#, "invalid-parameter", "pending") { request throws(RPCError) in
            _ = try NoticesParameters(request)
        }
        try expectRefusal(#"{"route":""}"#, "invalid-parameter", "route") { request throws(RPCError) in
            _ = try ClaimNoticesParameters(request)
        }
        try expectRefusal(#"{"route":"r","limit":101}"#, "invalid-value", "limit") { request throws(RPCError) in
            _ = try ClaimNoticesParameters(request)
        }
        try expectRefusal(#"{"route":"r","numbers":["1"]}"#, "invalid-parameter", "numbers") {
            request throws(RPCError) in
            _ = try AcknowledgeNoticesParameters(request)
        }
        try expectRefusal("{}", "invalid-parameter", "topics") { request throws(RPCError) in
            _ = try SubscribeParameters(request)
        }
        try expectRefusal(#"{"topics":["weather"]}"#, "invalid-parameter", "topics") { request throws(RPCError) in
            _ = try SubscribeParameters(request)
        }
        try expectRefusal(#"{"game":"g","state":"asleep"}"#, "invalid-parameter", "state") { request throws(RPCError) in
            _ = try PresenceParameters(request)
        }
        try expectRefusal("{}", "invalid-parameter", "endpoint") { request throws(RPCError) in
            _ = try EndpointParameters(request, needsEndpoint: true)
        }
    }

    @Test func unknownNamesAreRememberedHoweverManyThereAre() throws {
        let names = (0..<200).map { "unknown\($0)" }
        let members = (names.prefix(150) + ["kind"] + names.dropFirst(150)).map { "\"\($0)\":\"score\"" }
        let parsed = try Submission.parse(request("{\"game\":\"g\",\(members.joined(separator: ","))}"))
        #expect(parsed.submission.game == "g")
        #expect(parsed.ignored == names)
    }

    @Test func unknownNamesAreRememberedInOrder() throws {
        let parameters = #"{"mood":1,"kind":"score","weather":null,"game":"g","value":"1","Value":2}"#
        let (submission, ignored) = try Submission.parse(try request(parameters))
        #expect(submission.value == "1")
        #expect(ignored == ["mood", "weather", "Value"])
    }

    @Test(arguments: [
        ("8080", "8080"), ("8080.0", "8080.0"), (#""8080""#, "8080"), (#""12.50""#, "12.50"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
    ])
    func valuesAreKeptAsTheyCame(value: String, text: String) throws {
        let request = try request(#"{"kind":"score","game":"g","leaderboard":"b","value":\#(value)}"#)
        #expect(try Submission.parse(request).submission.value == text)
    }

    @Test(arguments: [
        (#""2026-11-30T04:49:35Z""#, 1_796_014_175_000), (#""2026-11-30T05:49:35.5+01:00""#, 1_796_014_175_500),
        ("1796014175000", 1_796_014_175_000), ("1.796014175e12", 1_796_014_175_000), ("-1", -1),
    ])
    func timesAreTextOrMilliseconds(time: String, milliseconds: Int64) throws {
        let request = try request(#"{"kind":"score","game":"g","occurredAt":\#(time)}"#)
        #expect(try Submission.parse(request).submission.occurredAtMilliseconds == milliseconds)
    }

    @Test func operatorsMayMeanEverythingBySayingSo() throws {
        let parameters = try OperateParameters(try request(#"{"all":true}"#))
        #expect(parameters == OperateParameters())
    }

    private func request(_ parameters: String) throws -> RPCRequest {
        let line = Array(#"{"jsonrpc":"2.0","id":1,"method":"m","params":\#(parameters)}"#.utf8)
        guard case .single(let parsed) = try RPCRequest.parse(line) else { throw RPCError(.internalError, "a batch") }
        return try parsed.request.get()
    }

    private func expectRefusal(
        _ parameters: String, _ reason: String, _ field: String, location: SourceLocation = #_sourceLocation,
        _ parse: (RPCRequest) throws(RPCError) -> Void
    ) throws {
        let request = try request(parameters)
        do throws(RPCError) {
            try parse(request)
            Issue.record("\(parameters) was accepted", sourceLocation: location)
        } catch {
            #expect(error.reason == reason, sourceLocation: location)
            #expect(error.field == field, sourceLocation: location)
            #expect(!error.message.isEmpty, sourceLocation: location)
        }
    }
}
