import KleosJSON
import KleosModel
import KleosServer
import KleosStore
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

@Suite struct PermissionTests {
    let harness: ServerHarness

    init() throws {
        harness = try ServerHarness()
    }

    @discardableResult
    private func submit(_ value: Int, as uid: UInt32 = ServerHarness.uid) throws -> String {
        let answer = try harness.connect(uid: uid).submit(
            #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":\#(value),"id":"id-\#(value)"}"#)
        return try #require(answer.result?["key"]?.stringValue)
    }

    @Test("S-12: operators' methods are answered on the control socket only", arguments: Method.allCases)
    func answersOperatorsMethodsOnTheControlSocketOnly(method: Method) throws {
        let client = try harness.connect(uid: 0)
        let reason = try client.ask(method.rawValue).reason
        #expect((reason == "not-permitted") == method.needsControl)
        let control = try harness.connect(uid: 0, control: true)
        #expect(try control.ask(method.rawValue).reason != "not-permitted")
    }

    @Test(
        "S-15: operators use the control socket",
        arguments: [(UInt32(0), [], true), (990, [], true), (4_711, [ServerHarness.gid], true), (4_711, [], false)])
    func letsOperatorsUseTheControlSocket(uid: UInt32, groups: [UInt32], isPermitted: Bool) throws {
        let client = try harness.connect(uid: uid, groups: groups, control: true)
        #expect((try client.ask("status").result != nil) == isPermitted)
        #expect((try client.ask("status").reason == "not-permitted") == !isPermitted)
    }

    @Test("S-10: only one's own events are shown") func showsOnlyOnesOwnEvents() throws {
        let own = try submit(1)
        let foreign = try submit(2, as: ServerHarness.otherUID)
        let client = try harness.connect()
        let rows = try #require(try client.ask("list").result?["deliveries"]?.arrayValue)
        #expect(rows.map { $0["key"]?.stringValue } == [own])
        #expect(try client.ask("show", #"{"key":"\#(own)"}"#).result?["event"]?["id"] == "id-1")
        #expect(try client.ask("show", #"{"key":"\#(foreign)"}"#).reason == "not-found")
        #expect(try client.ask("show", #"{"id":"id-2","game":"minesweeper"}"#).reason == "not-found")
        #expect(try client.ask("show", #"{"id":"id-1","game":"minesweeper"}"#).result?["event"]?["key"] == .string(own))
        let root = try harness.connect(uid: 0)
        #expect(try root.ask("list").result?["deliveries"]?.arrayValue?.isEmpty == true)
    }

    @Test func showsEverythingToOperators() throws {
        let keys = [try submit(1), try submit(2, as: ServerHarness.otherUID)]
        let control = try harness.control()
        let rows = try #require(try control.ask("list").result?["deliveries"]?.arrayValue)
        #expect(Set(rows.compactMap { $0["key"]?.stringValue }) == Set(keys))
        #expect(try control.ask("show", #"{"key":"\#(keys[1])"}"#).result?["event"]?["submitter"]?["uid"] == 4_712)
    }

    @Test func pagesThroughAList() throws {
        let client = try harness.connect()
        for value in 0..<7 {
            _ = try client.submit(
                #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":\#(value)}"#)
        }
        var keys: Set<String> = []
        var cursor: String?
        repeat {
            let more = cursor.map { #","cursor":"\#($0)""# } ?? ""
            let result = try #require(try client.ask("list", #"{"limit":3\#(more)}"#).result)
            let rows = try #require(result["deliveries"]?.arrayValue)
            #expect(rows.count <= 3)
            keys.formUnion(rows.compactMap { $0["key"]?.stringValue })
            cursor = result["cursor"]?.stringValue
        } while cursor != nil
        #expect(keys.count == 7)
    }

    @Test func holdsReleasesAndDiscards() throws {
        let key = try submit(1)
        let control = try harness.control()
        let keys = #"{"keys":["\#(key)"]}"#
        func state() throws -> String? {
            try control.ask("show", #"{"key":"\#(key)"}"#).result?["deliveries"]?.arrayValue?.first?["state"]?
                .stringValue
        }
        #expect(try control.ask("hold", keys).result?["changed"] == 1)
        #expect(try state() == "held")
        #expect(try control.ask("hold", keys).result?["changed"] == 0)
        #expect(try control.ask("release", #"{"game":"minesweeper"}"#).result?["changed"] == 1)
        #expect(try state() == "ready")
        #expect(try control.ask("discard", #"{"all":true}"#).result?["changed"] == 1)
        #expect(try state() == "discarded")
        #expect(try control.ask("retry", keys).result?["unchanged"]?.arrayValue?.count == 1)
        #expect(try control.ask("retry").reason == "invalid-parameter")
    }

    @Test func steersEndpoints() throws {
        let control = try harness.control()
        #expect(try control.ask("pause", #"{"endpoint":"home","reason":"moving house"}"#).result != nil)
        #expect(try control.ask("resume", #"{"endpoint":"home"}"#).result != nil)
        #expect(try control.ask("flush").result != nil)
        #expect(harness.calls.withLock { $0 } == ["pause home: moving house", "resume home", "flush all"])
        let unknown = try control.ask("pause", #"{"endpoint":"hom"}"#)
        #expect(unknown.reason == "unknown-endpoint")
        #expect(unknown["error"]?["message"]?.stringValue?.contains("did you mean home?") == true)
        #expect(try control.ask("pause").field == "endpoint")
        #expect(try control.ask("reload").reason == "reload-failed")
        #expect(try control.ask("config").result?["settings"]?.arrayValue?.first?["key"] == "MaxConnections")
    }

    @Test func reportsItsStatus() throws {
        try submit(1)
        harness.store.clock.advance(milliseconds: 90_500)
        let status = StatusAnswer(json: try #require(try harness.connect().ask("status").result))
        #expect(status.uptimeSeconds == 90)
        #expect(status.isAccepting)
        #expect(status.counts[.ready] == 1)
        #expect(status.endpoints.map(\.name) == ["home"])
        #expect(status.endpoints.first?.undelivered == 1)
        #expect(status.endpoints.first?.condition == "up")
    }

    @Test("S-16: what a service said of its failures, which may name others' events, is for operators")
    func keepsTheWordsOfServicesForOperators() throws {
        let harness = try ServerHarness(
            condition: EndpointCondition(
                name: "home", url: "http://127.0.0.1:1", kind: .failing, reason: "bob is unknown",
                lastError: "bob scored too much",
                partialThrottles: [PartialThrottle(scope: .player, name: "bob", untilMilliseconds: 5_000)]))
        func seen(_ client: TestClient) throws -> EndpointRow? {
            StatusAnswer(json: try #require(try client.ask("status").result)).endpoints.first
        }
        let own = try #require(try seen(harness.connect()))
        #expect(own.condition == "failing" && own.reason == nil && own.lastError == nil)
        #expect(own.throttleCount == 1 && own.throttles.first?.untilMilliseconds == 5_000)
        #expect(own.throttles.first?.name == nil)
        for client in [try harness.control(), try harness.connect(uid: 0), try harness.connect(uid: 990)] {
            let row = try #require(try seen(client))
            #expect(row.reason == "bob is unknown" && row.lastError == "bob scored too much")
            #expect(row.throttles.first?.name == "bob")
        }
        let watchers = [try harness.connect(), try harness.control()]
        for watcher in watchers { _ = try watcher.ask("subscribe", #"{"topics":["endpoints"]}"#) }
        harness.server.publish(
            condition: EndpointCondition(name: "home", url: "", kind: .paused, reason: "bob again"))
        #expect(try watchers[0].answer()["params"]?["reason"] == nil)
        #expect(try watchers[1].answer()["params"]?["reason"] == "bob again")
    }

    @Test func introducesItself() throws {
        let hello = HelloAnswer(json: try #require(try harness.connect().ask("hello").result))
        #expect(hello.protocolNumber == ProtocolVersion.number)
        #expect(hello.features == ProtocolVersion.features)
        #expect(hello.socket == "submit")
        #expect(hello.uid == ServerHarness.uid)
    }

    @Test func answersStandingsToWhoMaySubmit() throws {
        _ = try harness.connect().submit(
            #"{"kind":"score","game":"minesweeper","leaderboard":"beginner","value":77}"#)
        let client = try harness.connect()
        let standings = StandingAnswer(
            json: try #require(try client.ask("standing", #"{"game":"minesweeper","leaderboard":"beginner"}"#).result))
        #expect(standings.standings.first?.pending?.measure == .value(ScoreValue(units: 77)))
        let stranger = try harness.connect(uid: 5_000)
        #expect(try stranger.ask("standing", #"{"game":"minesweeper"}"#).reason == "not-permitted")
        #expect(try client.ask("standing", #"{"game":"nowhere"}"#).reason == "unknown-game")
        #expect(
            try client.ask("standing", #"{"game":"minesweeper","leaderboard":"a","achievement":"b"}"#).reason
                == "invalid-parameter")
    }
}
