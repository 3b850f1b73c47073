import Glibc
import KleosJSON
import KleosServer
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

/// What bad input gets: a clear error, and no effect on anyone else.
@Suite struct BadInputTests {
    let harness: ServerHarness
    let client: TestClient

    init() throws {
        harness = try ServerHarness()
        client = try harness.connect()
    }

    private func expectAlive(_ client: TestClient) throws {
        #expect(try client.ask("hello").result?["server"] == "kleosd")
    }

    private static let hello = #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#

    @Test(arguments: [
        ("nonsense", "parse-error"),
        (#"{"jsonrpc":"2.0","id":1,"method":"hello","id":2}"#, "parse-error"),
        (#"{"jsonrpc":"2.0","id":1,"method":"hello",}"#, "parse-error"),
        ("\u{FEFF}" + hello, "parse-error"),
        ("", "parse-error"),
        (String(repeating: "[", count: 33) + String(repeating: "]", count: 33), "parse-error"),
        (String(repeating: "[", count: 20_000), "parse-error"),
        ("{\"a\":\"\u{0}\"}", "parse-error"),
        ("17", "invalid-request"),
        (#"{"id":1,"method":"hello"}"#, "invalid-request"),
        (#"{"jsonrpc":"2.0","id":1,"method":7}"#, "invalid-request"),
        (#"{"jsonrpc":"2.0","id":1,"method":"hello","params":[1]}"#, "invalid-request"),
        (#"{"jsonrpc":"2.0","id":{},"method":"hello"}"#, "invalid-request"),
        (#"{"jsonrpc":"2.0","id":1,"method":"helo"}"#, "unknown-method"),
        (#"{"jsonrpc":"2.0","method":"submit","params":{}}"#, "id-required"),
        (#"{"jsonrpc":"2.0","id":1,"method":"list","params":{"limit":0}}"#, "invalid-value"),
        (#"{"jsonrpc":"2.0","id":1,"method":"list","params":{"limit":"9"}}"#, "invalid-parameter"),
        (#"{"jsonrpc":"2.0","id":1,"method":"list","params":{"states":["lost"]}}"#, "invalid-parameter"),
        (#"{"jsonrpc":"2.0","id":1,"method":"list","params":{"cursor":"elsewhere"}}"#, "invalid-parameter"),
        (#"{"jsonrpc":"2.0","id":1,"method":"show","params":{"key":"x"}}"#, "invalid-parameter"),
        (#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"topics":["all"]}}"#, "invalid-parameter"),
    ])
    func refuses(line: String, reason: String) throws {
        let answer = try client.exchange(line)
        #expect(answer.reason == reason)
        #expect(answer["error"]?["message"]?.stringValue?.isEmpty == false)
        try expectAlive(client)
    }

    /// No number that a client may send does harm, the smallest and the largest included.
    @Test(arguments: [Int64.min, Int64.min + 1, -1, 0, 1, Int64.max])
    func answersForEveryNumber(number: Int64) throws {
        #expect(try client.ask("notices.open", #"{"number":\#(number)}"#).reason == "not-found")
        #expect(try client.ask("notices", #"{"after":\#(number)}"#).result != nil)
        let claimed = #"{"route":"desktop","numbers":[\#(number)]}"#
        #expect(try client.ask("notices.acknowledge", claimed).result?["acknowledged"] == 0)
        for member in ["progress", "steps", "increment"] {
            let event =
                #"{"kind":"achievement","game":"minesweeper","achievement":"stepwise","\#(member)":\#(number)}"#
            #expect(try client.submit(event)["id"] != nil)
        }
        for board in ["beginner", "every", "fine"] {
            let event = #"{"kind":"score","game":"minesweeper","leaderboard":"\#(board)","value":\#(number)}"#
            #expect(try client.submit(event)["id"] != nil)
        }
        let time = #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":1,"occurredAt":\#(number)}"#
        #expect(try client.submit(time)["id"] != nil)
        #expect(try client.ask("list").result != nil)
        #expect(try client.ask("standing", #"{"game":"minesweeper"}"#).result != nil)
        let control = try harness.control()
        for cursor in ["e", "s", "n"].map({ "\($0):\(number):\(number)" }) {
            #expect(try control.ask("export", #"{"cursor":"\#(cursor)"}"#)["id"] != nil)
        }
        try expectAlive(client)
    }

    /// A file of another machine, or of somebody who means harm, is refused, or taken with numbers that fit.
    @Test(arguments: [Int64.min, -1, Int64.max])
    func importsNoNumberThatDoesHarm(number: Int64) throws {
        let control = try harness.control()
        var keys = 1_000
        func line(_ event: String, _ delivery: String) -> String {
            keys += 1
            return
                #"{"lines":[{"event":{"key":"01a22b30-dc2b-7874-a0c8-a9b19fe2\#(keys)","game":"minesweeper","player":"ada","#
                + #""kind":"score","item":"every","units":1,"decimals":0,"wall":1795996800000,"uid":4711\#(event)},"#
                + #""deliveries":[{"endpoint":"home","merge":"none","priority":1,"state":"dead"\#(delivery)}]}]}"#
        }
        for name in ["occurred", "boot", "pid"] {
            #expect(try control.ask("import", line(",\"\(name)\":\(number)", ""))["id"] != nil)
        }
        for name in ["due", "attempts", "inherited", "serverErrors", "settled", "rank"] {
            #expect(try control.ask("import", line("", ",\"\(name)\":\(number)"))["id"] != nil)
        }
        for name in ["started", "duration"] {
            let receipt = #","receipt":[{"number":1,"outcome":"retry","started":1,"\#(name)":\#(number)}]"#
                .replacing("\"started\":1,\"started\"", with: "\"started\"")
            #expect(try control.ask("import", line("", receipt))["id"] != nil)
        }
        for text in [
            #"{"standing":{"endpoint":"home","game":"minesweeper","player":"ada","kind":"score","item":"every","units":\#(number),"decimals":0,"at":\#(number)}}"#,
            #"{"notice":{"key":"01a22b30-dc2b-7874-a0c8-a9b19fe276a0","game":"minesweeper","player":"ada","uid":4711,"kind":"score","item":"every","created":\#(number)}}"#,
        ] {
            #expect(try control.ask("import", #"{"lines":[\#(text)]}"#)["id"] != nil)
        }
        #expect(try control.ask("retry", #"{"all":true}"#).result != nil)
        for row in try control.ask("list").result?["deliveries"]?.arrayValue ?? [] {
            let key = try #require(row["key"]?.stringValue)
            #expect(try control.ask("show", #"{"key":"\#(key)"}"#).result != nil)
        }
        #expect(try control.ask("export", #"{"cursor":"e:0:1000"}"#).result != nil)
        #expect(try control.ask("notices").result != nil)
        try expectAlive(client)
    }

    @Test(
        arguments: [
            [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00],
            [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xC3, 0x28, 0x22, 0x7D],
            [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x7D],
            [0x00, 0x00, 0x00],
        ] as [[UInt8]])
    func refusesWhatIsNotUTF8(bytes: [UInt8]) throws {
        client.send(bytes + [0x0A])
        let answer = try client.answer()
        #expect(answer.reason == "parse-error")
        #expect(answer["id"] == .null)
        try expectAlive(client)
    }

    @Test(arguments: ["1", "\"a\\u0041\"", "1.50", "1e2", "\"\"", "-0", "123456789012345678901234567890"])
    func answersUnderTheIdAsItCame(id: String) throws {
        client.sendLine(#"{"jsonrpc":"2.0","id":\#(id),"method":"hello"}"#)
        #expect(try #require(client.line()).hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"result""#))
        client.sendLine(#"{"jsonrpc":"2.0","id":\#(id),"method":"nothing"}"#)
        #expect(try #require(client.line()).hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"error""#))
        client.sendLine(
            #"{"jsonrpc":"2.0","id":\#(id),"method":"submit","params":{"kind":"score","game":"minesweeper","leaderboard":"every","value":1}}"#
        )
        #expect(try #require(client.line()).hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"result""#))
    }

    @Test("S-61: a line of ten megabytes is skipped") func skipsALineOfTenMegabytes() throws {
        let other = try harness.connect(uid: ServerHarness.otherUID)
        var line = [UInt8](repeating: UInt8(ascii: "x"), count: 10 << 20)
        line.append(0x0A)
        #expect(client.send(line))
        let answer = try client.answer()
        #expect(answer.reason == "too-large")
        #expect(answer["id"] == .null)
        try expectAlive(client)
        try expectAlive(other)
    }

    @Test func takesALineAtTheLimitAndNoLonger() throws {
        let exact = Self.hello + String(repeating: " ", count: 65_536 - Self.hello.utf8.count)
        #expect(try client.exchange(exact).result?["server"] == "kleosd")
        #expect(try client.exchange(exact + " ").reason == "too-large")
    }

    @Test func dropsHalfALineOfAClientThatLeft() throws {
        do {
            let leaving = try harness.connect()
            leaving.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score""#.utf8))
        }
        try expectAlive(client)
        let counters = try harness.store.run { outbox throws(StoreError) in try outbox.status() }
        #expect(counters.endpoints.allSatisfy { $0.counts.isEmpty })
    }

    @Test func answersAClientThatClosedItsSendingSide() throws {
        client.sendLine(
            #"{"jsonrpc":"2.0","id":5,"method":"submit","params":{"kind":"score","game":"minesweeper","leaderboard":"every","value":1}}"#
        )
        shutdown(client.descriptor.number, Int32(SHUT_WR))
        #expect(try client.answer()["id"]?.int64Value == 5)
        #expect(client.line() == nil)
    }

    @Test func joinsALineThatComesByteByByte() throws {
        for byte in Array((Self.hello + "\r\n").utf8) { client.send([byte]) }
        #expect(try client.answer().result?["server"] == "kleosd")
    }
}
