import KleosConfig
import KleosJSON
import KleosModel
import KleosServer
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct SubmitTests {
    let harness: ServerHarness
    let client: TestClient

    init() throws {
        harness = try ServerHarness()
        client = try harness.connect()
    }

    private static let score = #""kind":"score","game":"minesweeper","leaderboard":"beginner""#

    @Test func recordsAScoreBeforeItAnswers() throws {
        let answer = try client.submit(#"{\#(Self.score),"value":8080,"id":"one","metadata":{"x": 1.50}}"#)
        #expect(answer.result?["state"] == "accepted")
        #expect(answer.result?["duplicate"] == false)
        #expect(answer.result?["ignored"] == nil)
        let key = try #require(answer.result?["key"]?.stringValue.flatMap(EventKey.init))
        let record = try #require(
            try harness.store.run { outbox throws(StoreError) in
                try outbox.show(key: key, visibleTo: ServerHarness.uid)
            })
        #expect(record.event.player == "ada")
        #expect(record.event.subject == .score(leaderboard: "beginner", value: ScoreValue(units: 8_080)))
        #expect(record.event.metadata == Array(#"{"x": 1.50}"#.utf8))
        #expect(record.event.submitter.uid == ServerHarness.uid)
        #expect(record.event.submitter.executable?.hasPrefix("/") == true)
        #expect(record.deliveries.map(\.record.endpoint) == ["home"])
    }

    @Test func answersTheSameSubmissionAsADuplicate() throws {
        let first = try client.submit(#"{\#(Self.score),"value":8080,"id":"one"}"#)
        let second = try client.submit(#"{\#(Self.score),"value":"8080","id":"one"}"#)
        #expect(second.result?["key"] == first.result?["key"])
        #expect(second.result?["duplicate"] == true)
        let conflict = try client.submit(#"{\#(Self.score),"value":8081,"id":"one"}"#)
        #expect(conflict.reason == "id-conflict")
        #expect(conflict["error"]?["data"]?["key"] == first.result?["key"])
    }

    @Test func saysThatAWorseScoreIsSuperseded() throws {
        _ = try client.submit(#"{\#(Self.score),"value":10}"#)
        #expect(try client.submit(#"{\#(Self.score),"value":20}"#).result?["state"] == "superseded")
    }

    @Test func namesParametersThatItDoesNotKnow() throws {
        let answer = try client.submit(#"{\#(Self.score),"value":1,"mood":"good","weather":null}"#)
        #expect(answer.result?["ignored"] == ["mood", "weather"])
        #expect(try client.ask("status", #"{"verbose":true}"#).result?["ignored"] == ["verbose"])
    }

    @Test(arguments: [
        (#"{"kind":"score","game":"minesweepr","leaderboard":"beginner","value":1}"#, "unknown-game", "game"),
        (
            #"{"kind":"score","game":"minesweeper","leaderboard":"beginer","value":1}"#, "unknown-leaderboard",
            "leaderboard"
        ),
        (
            #"{"kind":"achievement","game":"minesweeper","achievement":"impossible"}"#, "unknown-achievement",
            "achievement"
        ),
        (
            #"{"kind":"achievement","game":"minesweeper","achievement":"stepwise","progress":101}"#, "invalid-value",
            "progress"
        ),
        (
            #"{"kind":"achievement","game":"minesweeper","achievement":"stepwise","progress":-1}"#, "invalid-value",
            "progress"
        ),
        (#"{\#(score),"value":0}"#, "invalid-value", "value"),
        (#"{\#(score),"value":1000001}"#, "invalid-value", "value"),
        (#"{\#(score),"value":9223372036854775808}"#, "invalid-value", "value"),
        (#"{\#(score),"value":1.5}"#, "invalid-value", "value"),
        (#"{\#(score),"value":true}"#, "invalid-parameter", "value"),
        (#"{\#(score)}"#, "invalid-parameter", "value"),
        (#"{"kind":"medal","game":"minesweeper"}"#, "invalid-parameter", "kind"),
        (#"{\#(score),"value":1,"player":"\#(String(repeating: "p", count: 129))"}"#, "too-large", "player"),
        (#"{\#(score),"value":1,"id":"\#(String(repeating: "i", count: 129))"}"#, "too-large", "id"),
        (
            #"{\#(score),"value":1,"metadata":{"a":"\#(String(repeating: "m", count: 4_096))"}}"#, "too-large",
            "metadata"
        ),
        (#"{\#(score),"value":1,"metadata":[]}"#, "invalid-parameter", "metadata"),
        (#"{\#(score),"value":1,"player":"a\u0000b"}"#, "invalid-parameter", "player"),
        (#"{\#(score),"value":1,"occurredAt":"yesterday"}"#, "invalid-parameter", "occurredAt"),
        (#"{"kind":"score","game":"homeless","leaderboard":"beginner","value":1,"player":"p"}"#, "unavailable", "game"),
        (
            #"{"kind":"score","game":"private","leaderboard":"beginner","value":1,"player":"p"}"#, "not-permitted",
            "game"
        ),
    ])
    func refuses(parameters: String, reason: String, field: String) throws {
        let answer = try client.submit(parameters)
        #expect(answer.reason == reason)
        #expect(answer.field == field)
        #expect(answer["error"]?["message"]?.stringValue?.isEmpty == false)
        let counters = try harness.store.run { outbox throws(StoreError) in try outbox.status() }
        #expect(counters.endpoints.allSatisfy { $0.counts.isEmpty })
    }

    /// A script repeats what was not answered, at another time.
    @Test func theTimeOfTakingOverIsNoPartOfTheEvent() throws {
        func submit(_ time: String) throws -> JSONValue {
            try client.submit(#"{\#(Self.score),"value":8080,"id":"one"\#(time)}"#)
        }
        let first = try submit(#","spooledAt":"2026-11-29T20:00:00Z""#)
        let key = try #require(first.result?["key"]?.stringValue.flatMap(EventKey.init))
        #expect(first.result?["ignored"] == nil)
        for time in [#","spooledAt":"2026-11-29T21:00:00Z""#, ""] {
            let again = try submit(time)
            #expect(again.result?["duplicate"] == true)
            #expect(again.result?["key"]?.stringValue == key.description)
        }
        #expect(try submit(#","occurredAt":"2026-11-29T21:00:00Z""#).reason == "id-conflict")
        let record = try #require(
            try harness.store.run { outbox throws(StoreError) in
                try outbox.show(key: key, visibleTo: ServerHarness.uid)
            })
        #expect(record.event.occurredAtMilliseconds == Timestamp.milliseconds(text: "2026-11-29T20:00:00Z"))
    }

    @Test func suggestsTheNearestGame() throws {
        let answer = try client.submit(#"{"kind":"score","game":"minesweepr","leaderboard":"b","value":1}"#)
        #expect(answer["error"]?["message"]?.stringValue?.contains("did you mean minesweeper?") == true)
    }

    @Test func permitsByGroupAndRoot() throws {
        let parameters = #"{"kind":"achievement","game":"private","achievement":"none","player":"p"}"#
        #expect(try client.submit(parameters).reason == "not-permitted")
        let member = try harness.connect(groups: [ServerHarness.gid])
        #expect(try member.submit(parameters).reason == "unknown-achievement")
        #expect(try harness.connect(uid: 0).submit(parameters).reason == "unknown-achievement")
    }

    @Test func answersABatchInOneLineAndInOrder() throws {
        let requests = (1...64).map {
            #"{"jsonrpc":"2.0","id":"b\#($0)","method":"submit","params":{\#(Self.score),"value":\#($0 % 2 == 0 ? 0 : $0)}}"#
        }
        let answers = try #require(try client.exchange("[\(requests.joined(separator: ","))]").arrayValue)
        #expect(answers.map { $0["id"]?.stringValue } == (1...64).map { "b\($0)" })
        for (index, answer) in answers.enumerated() {
            #expect((answer.reason == "invalid-value") == (index % 2 == 1))
        }
    }

    @Test func limitsABatch() throws {
        let request = #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#
        let many = Array(repeating: request, count: 65).joined(separator: ",")
        #expect(try client.exchange("[\(many)]").reason == "too-large")
        #expect(try client.exchange("[]").reason == "invalid-request")
        let mixed = try client.exchange(#"[1,{"jsonrpc":"2.0","id":7,"method":"hello"}]"#)
        #expect(mixed.arrayValue?.map(\.reason) == ["invalid-request", nil])
    }

    @Test func answersEveryPipelinedRequest() throws {
        let count = 3_000
        var bytes: [UInt8] = []
        for number in 0..<count {
            bytes += Array(
                (#"{"jsonrpc":"2.0","id":\#(number),"method":"submit","params":{"kind":"score","game":"minesweeper","#
                    + #""leaderboard":"every","value":\#(number)}}"# + "\n").utf8)
        }
        client.send(bytes)
        var seen: Set<Int64> = []
        for _ in 0..<count {
            let answer = try client.answer()
            #expect(answer.result?["state"] == "accepted")
            seen.insert(try #require(answer["id"]?.int64Value))
        }
        #expect(seen.count == count)
        let counters = try harness.store.run { outbox throws(StoreError) in try outbox.status() }
        #expect(counters.endpoints.first?.counts.values.reduce(0, +) == count)
    }

    @Test("S-64: events per minute are limited") func limitsEventsPerMinute() throws {
        var limits = ConnectionLimits()
        limits.eventsPerMinute = 2
        let harness = try ServerHarness(limits: limits)
        let client = try harness.connect()
        let event = #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":1}"#
        #expect(try client.submit(event).result != nil)
        #expect(try client.submit(event).result != nil)
        #expect(try client.submit(event).reason == "rate-limited")
        #expect(try harness.connect(uid: ServerHarness.otherUID).submit(event).result != nil)
        harness.store.clock.advance(milliseconds: 30_000)
        #expect(try client.submit(event).result != nil)
    }
}
