import KleosJSON
import KleosModel
import KleosServer
import KleosStore
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

@Suite struct SubscribeTests {
    let harness: ServerHarness

    init() throws {
        harness = try ServerHarness()
    }

    private static let event = #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":5}"#

    private func notice(uid: UInt32) -> Notice {
        Notice(
            number: 9, key: EventKey(high: 1, low: 2), game: "minesweeper", player: "ada", uid: uid,
            facts: NoticeFacts(kind: .achievement, item: "impossible-mission"),
            createdMilliseconds: harness.store.clock.nowMilliseconds)
    }

    @Test func pushesOnesOwnDeliveries() throws {
        let watcher = try harness.connect()
        #expect(try watcher.ask("subscribe", #"{"topics":["deliveries"]}"#).result?["topics"] == ["deliveries"])
        _ = try harness.connect(uid: ServerHarness.otherUID).submit(
            #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":5,"player":"eve"}"#)
        let own = try harness.connect().submit(Self.event)
        let push = try watcher.answer()
        #expect(push["method"] == "delivery")
        #expect(push["id"] == nil)
        #expect(push["params"]?["key"] == own.result?["key"])
        #expect(push["params"]?["state"] == "ready")
        #expect(push["params"]?["endpoint"] == "home")
    }

    @Test func pushesEverythingToOperators() throws {
        let watcher = try harness.control()
        _ = try watcher.ask("subscribe", #"{"topics":["deliveries"],"player":"bob"}"#)
        let client = try harness.connect(uid: ServerHarness.otherUID)
        _ = try client.submit(Self.event)
        let event = #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":5,"player":"bob"}"#
        let answer = try client.submit(event)
        #expect(try watcher.answer()["params"]?["key"] == answer.result?["key"])
    }

    @Test func pushesNoticesWithTheirWords() throws {
        let watcher = try harness.connect()
        _ = try watcher.ask("subscribe", #"{"topics":["notices","endpoints"]}"#)
        harness.server.publish(OutboxChanges(notices: [notice(uid: ServerHarness.otherUID)]))
        harness.server.publish(OutboxChanges(notices: [notice(uid: ServerHarness.uid)]))
        harness.server.publish(
            condition: EndpointCondition(name: "home", url: "http://127.0.0.1:1", kind: .failing, reason: "no route"))
        let first = try watcher.answer()
        #expect(first["method"] == "notice")
        let parameters = try #require(first["params"])
        let row = try #require(NoticeRow(json: parameters))
        #expect(row.number == 9)
        #expect(!row.title.isEmpty)
        let second = try watcher.answer()
        #expect(second["method"] == "endpoint")
        #expect(second["params"]?["condition"] == "failing")
        #expect(second["params"]?["reason"] == "no route")
        #expect(second["params"]?["undelivered"] == nil)
    }

    @Test func aLaterSubscriptionReplacesTheEarlier() throws {
        let watcher = try harness.connect()
        _ = try watcher.ask("subscribe", #"{"topics":["notices"]}"#)
        _ = try watcher.ask("subscribe", #"{"topics":[]}"#)
        harness.server.publish(OutboxChanges(notices: [notice(uid: ServerHarness.uid)]))
        #expect(try watcher.ask("hello").result != nil)
        watcher.sendLine(#"{"jsonrpc":"2.0","id":"last","method":"hello"}"#)
        #expect(try watcher.answer()["id"] == "last")
    }

    @Test func presenceBelongsToTheConnection() throws {
        var game: TestClient? = try harness.connect()
        _ = try game?.ask("subscribe", #"{"topics":["notices"]}"#)
        _ = try game?.ask("presence", #"{"game":"minesweeper","state":"foreground"}"#)
        let presences = harness.server.sync { $0.presences }
        #expect(presences.count == 1)
        #expect(presences.first?.shows(uid: ServerHarness.uid, game: "minesweeper", player: "ada") == true)
        #expect(presences.first?.shows(uid: ServerHarness.uid, game: "minesweeper", player: "bob") == false)
        let other = try harness.connect()
        #expect(try other.ask("presence", #"{"game":"private","state":"foreground"}"#).reason == "not-permitted")
        #expect(try other.ask("presence", #"{"game":"minesweeper","state":"asleep"}"#).reason == "invalid-parameter")
        #expect(game != nil)
        game = nil
        // The server sees the end of the connection after some turn of its own.
        var turns = 0
        while !(harness.server.sync { $0.presences }.isEmpty), turns < 10_000 {
            _ = try other.ask("hello")
            turns += 1
        }
        #expect(turns < 10_000)
    }

    @Test func presenceNeedsNoAnswer() throws {
        let game = try harness.connect()
        game.sendLine(#"{"jsonrpc":"2.0","method":"presence","params":{"game":"minesweeper","state":"background"}}"#)
        #expect(try game.exchange(#"{"jsonrpc":"2.0","id":"next","method":"hello"}"#)["id"] == "next")
        #expect(harness.server.sync { $0.presences }.map(\.state) == [.background])
    }

    @Test func stoppingClosesConnectionsAndUnlinksSockets() throws {
        let client = try harness.connect()
        harness.server.sync { _ in }
        harness.server.stop {}
        #expect(client.line() == nil)
        harness.server.sync { _ in }
        #expect(throws: SystemError.self) { _ = try UnixSocket.connect(to: harness.submitPath) }
        #expect(try Folder.names(in: harness.store.folder.path).contains("kleos.sock") == false)
    }
}
