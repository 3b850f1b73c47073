import Glibc
import KleosClient
import KleosJSON
import KleosModel
import KleosPractice
import KleosSupport
import KleosTestSupport
import KleosWire
import Synchronization
import Testing

/// The real programs where the daemon does not answer: the event is on disk all the same, and counts once.
@Suite("Spool")
struct SpoolTests {
    private static func submit(_ value: Int, timeoutSeconds: Int = 1) -> [String] {
        let event = ["submit", "score", "minesweeper", "beginner", String(value), "--player", "ada"]
        return event + ["--timeout", String(timeoutSeconds)]
    }

    private func status(_ scenario: Scenario) throws -> SpoolStatus {
        let text = try scenario.kleos("status", "--json")
        return try #require(StatusAnswer(json: try JSONParser.parse(Array(text.utf8))).spool)
    }

    /// Asks until `isTrue`, and returns the answer of which it is.
    @discardableResult
    private func wait(_ scenario: Scenario, until isTrue: (SpoolStatus) -> Bool) throws -> SpoolStatus {
        var last = try status(scenario)
        let isSeen = try Patience.until {
            last = try status(scenario)
            return isTrue(last)
        }
        let log = try scenario.daemon.log
        try #require(isSeen, "\(last) \(log)")
        return last
    }

    @Test("A daemon that accepts the connection and does not answer: spooled under the same id, and taken in once")
    func stopped() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        scenario.daemon.suspend()
        let result = try scenario.daemon.kleos(Self.submit(500) + ["--id", "game-17"])
        #expect(result.isSuccess, "\(result.errors)")
        #expect(result.output.hasPrefix("spooled game-17 in \(scenario.daemon.folder.path("spool"))/"))
        scenario.daemon.send(SIGCONT)
        // The daemon has the request of the socket as well, and one of the two is a duplicate.
        try wait(scenario) { $0.takenIn == 1 }
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 1)
        let rows = try scenario.rows("list")
        #expect(rows.map { $0["id"]?.stringValue } == ["game-17"])
        #expect(rows.map { $0["state"]?.stringValue } == ["delivered"])
    }

    @Test("No daemon: spooled by each form of submit, and delivered after the start with the time that it had")
    func notRunning() throws {
        let scenario = try Scenario()
        let refused = try scenario.daemon.kleos(Self.submit(400))
        #expect(refused.ending == .exited(69))
        #expect(refused.errors.contains("no kleos daemon has made a spool"))
        try scenario.daemon.start()
        scenario.daemon.stop()

        let spooled = try scenario.daemon.kleos(Self.submit(400) + ["--json"])
        let answer = try JSONParser.parse(Array(spooled.output.utf8))
        #expect(spooled.isSuccess)
        #expect(answer["state"] == "spooled")
        let path = try #require(answer["path"]?.stringValue)
        var information = stat()
        #expect(stat(path, &information) == 0 && information.st_mode & 0o7777 == 0o640)
        let lines = """
            {"kind":"achievement","game":"minesweeper","achievement":"impossible-mission","player":"ada"}
            {"kind":"score","game":"minesweeper","leaderboard":"beginner","value":7}
            nonsense
            """
        let several = try scenario.daemon.kleos(["submit", "-", "--timeout", "1"], input: lines)
        #expect(several.ending == .exited(65))
        #expect(several.output.hasSuffix("0 events accepted, 2 spooled, 1 refused\n"), "\(several.output)")
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "bob")

        let before = SystemClock().read().wallMilliseconds
        try scenario.daemon.start()
        try wait(scenario) { $0.takenIn + $0.rejected == 4 }
        try scenario.drain()
        let rows = try scenario.rows("list", "--state", "delivered")
        // One line names no player, and the sample game has none of its own.
        let rejections = try status(scenario).rejections
        #expect(rejections.map(\.reason) == ["player-required"])
        #expect(rows.count == 3)
        let key = try #require(rows.first { $0["leaderboard"] != nil }?["key"]?.stringValue)
        let shown = try JSONParser.parse(Array(try scenario.kleos("show", key, "--json").utf8))
        let occurred = try #require(
            shown["event"]?["occurredAt"]?.stringValue.flatMap { Timestamp.milliseconds(text: $0) })
        #expect(occurred < before)
    }

    @Test("The same id, spooled twice and then handed over, is one event with the time of the first")
    func repeated() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        scenario.daemon.stop()
        let id = ["--id", "mine"]
        for _ in 0..<2 { #expect(try scenario.daemon.kleos(Self.submit(400) + id).output.hasPrefix("spooled mine")) }
        try scenario.daemon.start()
        try wait(scenario) { $0.takenIn == 2 }
        let again = try scenario.daemon.kleos(Self.submit(400, timeoutSeconds: 600) + id)
        #expect(again.output.hasPrefix("accepted before"))
        #expect(try status(scenario).rejected == 0)
        #expect(try scenario.rows("list", "--all").count == 1)
    }

    @Test("A game whose daemon hangs has its events on disk, and they count once")
    func library() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        let client = KleosClient(
            game: "minesweeper", player: "ada", socketPath: scenario.daemon.socketPath,
            requestTimeoutMilliseconds: 500)
        scenario.daemon.suspend()
        let states = Mutex<[SubmitReceipt.State?]>([])
        for value in 1...20 {
            client.submitScore(Int64(500 - value), leaderboard: "beginner") { result in
                states.withLock { $0.append((try? result.get())?.state) }
            }
        }
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
        #expect(states.withLock { $0 } == Array(repeating: .spooled, count: 20))
        scenario.daemon.send(SIGCONT)
        try wait(scenario) { $0.takenIn == 20 }
        // Where the daemon needs longer than this client waits, the event is spooled again.
        let isAccepted = Patience.until {
            client.submitScore(1, leaderboard: "beginner") { result in
                states.withLock { $0.append((try? result.get())?.state) }
            }
            return client.waitUntilIdle(timeoutMilliseconds: 600_000) && states.withLock { $0.last } == .accepted
        }
        let count = states.withLock { $0.count }
        #expect(isAccepted, "\(count) events were spooled")
        try wait(scenario) { $0.takenIn == count - 1 }
        try scenario.drain()
        #expect(try scenario.rows("list", "--all").count == count)
        #expect(try status(scenario).rejected == 0)
        #expect(try scenario.counts()["mostEffectsOfOneKey"]?.int64Value == 1)
        client.close()
    }

    @Test("A bad file is moved aside, and status says which and why")
    func rejected() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.daemon.write(
            "spool/mine.json",
            "{\"kind\":\"score\",\"game\":\"minesweepr\",\"leaderboard\":\"beginner\",\"value\":1,\"id\":\"1\"}")
        try wait(scenario) { $0.rejected == 1 }
        let text = try scenario.kleos("status")
        #expect(text.contains("Spool: \(scenario.daemon.folder.path("spool")), 1 file was rejected"), "\(text)")
        #expect(text.contains("there is no game minesweepr; did you mean minesweeper? (unknown-game)"), "\(text)")
        let names = try Folder.names(in: scenario.daemon.folder.path("spool/rejected"))
        #expect(names.count == 2)
    }

    @Test("Files for which the queue has no room wait, status says why, and they are taken in when there is room")
    func waiting() throws {
        let scenario = try Scenario(game: "Player=ada\n")
        try scenario.daemon.write("kleosd.conf", "[Storage]\nKeepFree=16T\n")
        try scenario.daemon.start()
        scenario.daemon.stop()
        for value in 1...20 { try scenario.kleos("submit", "score", "minesweeper", "beginner", "\(500 - value)") }
        try scenario.daemon.start()
        let status = try wait(scenario) { $0.waitingReason != nil }
        #expect(status.waitingReason?.contains("KeepFree=") == true)
        #expect(status.takenIn == 0 && status.waiting == 20 && status.rejected == 0)
        #expect(try scenario.kleos("status").contains("20 files wait, because the disk has"))
        scenario.daemon.stop()
        try scenario.daemon.write("kleosd.conf", "")
        try scenario.daemon.start()
        try wait(scenario) { $0.waiting == 0 && $0.takenIn == 20 }
        try scenario.drain()
        #expect(try scenario.rows("list", "--limit", "100").count == 20)
    }
}
