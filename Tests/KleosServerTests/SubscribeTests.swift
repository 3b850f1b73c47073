import KleosConfig
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

    @Test("S-11: only one's own deliveries are pushed") func pushesOnesOwnDeliveries() throws {
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
        #expect(second["params"]?["reason"] == nil)
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
        #expect(Patience.until { harness.server.sync { $0.presences }.isEmpty })
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

    /// Records an achievement as `player` and confirms it, so that there is a notice.
    private func makeNotice(player: String, in other: ServerHarness? = nil) throws {
        let harness = other ?? harness
        let client = try harness.connect()
        let event =
            #"{"kind":"achievement","game":"minesweeper","achievement":"impossible-mission","player":"\#(player)"}"#
        #expect(try client.submit(event).result != nil)
        let now = harness.store.clock.read()
        try harness.store.run { outbox throws(StoreError) in
            let claims = try outbox.claim(endpoint: "home", limit: 1, nowMilliseconds: now.wallMilliseconds)
            for claim in claims {
                let attempt = Attempt(
                    number: 1, startedMilliseconds: now.wallMilliseconds, durationMilliseconds: 5, outcome: .delivered,
                    status: 200)
                let facts = NoticeFacts(kind: .achievement, item: "impossible-mission")
                _ = try outbox.settle(
                    claim.id, attempt: attempt, settlement: .delivered(Confirmation(), notice: .news(facts)),
                    mayHaveTakenEffect: false, now: now)
            }
        }
    }

    private func claim(_ client: TestClient, route: String) throws -> [String] {
        let result = try client.ask("notices.claim", #"{"route":"\#(route)"}"#).result
        return NoticesAnswer(json: try #require(result)).notices.map(\.player)
    }

    @Test(.timeLimit(.minutes(30)))
    func leavesNoticesToTheGameInTheForeground() throws {
        var game: TestClient? = try harness.connect()
        _ = try game?.ask("subscribe", #"{"topics":["notices"]}"#)
        _ = try game?.ask("presence", #"{"game":"minesweeper","player":"ada","state":"foreground"}"#)
        let agent = try harness.connect()
        _ = try agent.ask("subscribe", #"{"topics":["notices"]}"#)
        try makeNotice(player: "ada")
        try makeNotice(player: "bob")
        #expect(try game?.answer()["params"]?["player"] == "ada")
        #expect(try claim(agent, route: "desktop") == [])
        #expect(try claim(try #require(game), route: "game") == ["ada"])
        // Bob's waits while ada plays, and the agent is told once she is gone.
        game = nil
        #expect(try agent.answer()["params"]?["player"] == "bob")
        #expect(try claim(agent, route: "desktop") == ["bob"])
        #expect(try harness.connect(uid: ServerHarness.otherUID).ask("notices").result?["notices"] == [])
    }

    @Test func noticesOfOthersWaitUntilTheirPlayerIsBack() throws {
        let game = try harness.connect()
        let agent = try harness.connect()
        _ = try agent.ask("subscribe", #"{"topics":["notices"]}"#)
        _ = try game.ask("presence", #"{"game":"minesweeper","player":"ada","state":"foreground"}"#)
        try makeNotice(player: "bob")
        #expect(try claim(agent, route: "desktop") == [])
        _ = try game.ask("presence", #"{"game":"minesweeper","player":"bob","state":"foreground"}"#)
        #expect(try agent.answer()["params"]?["player"] == "bob")
        #expect(try claim(agent, route: "desktop") == ["bob"])
    }

    @Test func aLapsedClaimIsOfferedToWaitingRoutes() throws {
        let harness = try ServerHarness(noticeClaimMilliseconds: 20)
        let broken = try harness.connect()
        let agent = try harness.connect()
        _ = try agent.ask("subscribe", #"{"topics":["notices"]}"#)
        try makeNotice(player: "ada", in: harness)
        #expect(try agent.answer()["params"]?["player"] == "ada")
        #expect(try claim(broken, route: "other") == ["ada"])
        #expect(try agent.answer()["params"]?["player"] == "ada")
        #expect(try claim(agent, route: "desktop") == ["ada"])
    }

    @Test func aDesktopThatIsSwitchedOffGetsNothing() throws {
        var notices = NoticeRoutes()
        notices.usesDesktop = false
        notices.digestAfterMilliseconds = 5_000
        let harness = try ServerHarness(notices: notices)
        let agent = try harness.connect()
        try makeNotice(player: "ada", in: harness)
        #expect(try claim(agent, route: "desktop") == [])
        let other = try agent.ask("notices.claim", #"{"route":"lamp"}"#).result
        #expect(other?["digestAfterMilliseconds"] == 5_000)
        #expect(other?["notices"]?.arrayValue?.count == 1)
    }

    @Test func othersGetWhatTheGameDoesNotShow() throws {
        let game = try harness.connect()
        _ = try game.ask("subscribe", #"{"topics":["notices"]}"#)
        _ = try game.ask("presence", #"{"game":"minesweeper","player":"ada","state":"foreground"}"#)
        let agent = try harness.connect()
        try makeNotice(player: "ada")
        #expect(try claim(agent, route: "desktop") == [])
        harness.store.clock.advance(milliseconds: 10_001)
        #expect(try claim(agent, route: "desktop") == ["ada"])
    }

    @Test func aGameInTheBackgroundShowsNothing() throws {
        let game = try harness.connect()
        _ = try game.ask("subscribe", #"{"topics":["notices"]}"#)
        _ = try game.ask("presence", #"{"game":"minesweeper","player":"ada","state":"background"}"#)
        try makeNotice(player: "ada")
        #expect(try claim(game, route: "game") == [])
        let agent = try harness.connect()
        let result = try agent.ask("notices.claim", #"{"route":"desktop"}"#).result
        let rows = NoticesAnswer(json: try #require(result)).notices
        #expect(rows.map(\.player) == ["ada"])
        let numbers = rows.map { String($0.number) }.joined()
        let done = try agent.ask("notices.acknowledge", #"{"route":"desktop","numbers":[\#(numbers)]}"#)
        #expect(done.result?["acknowledged"] == 1)
        #expect(try agent.ask("notices", #"{"pending":true}"#).result?["notices"] == [])
    }
}
