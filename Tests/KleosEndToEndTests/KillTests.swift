import Glibc
import KleosJSON
import KleosPractice
import KleosSupport
import KleosTestSupport
import Testing

/// The daemon and the endpoint are killed while a game plays; nothing may be lost, doubled or left untold.
@Suite("Kills in the middle of the work")
struct KillTests {
    /// What the game said was acknowledged.
    private struct Acknowledged {
        var achievements: Set<String> = []
        var best: [String: Int64] = [:]
        var count = 0

        mutating func add(_ row: JSONValue) {
            count += 1
            if let id = row["achievement"]?.stringValue, row["progress"]?.int64Value == 100 { achievements.insert(id) }
            if let board = row["leaderboard"]?.stringValue, let value = row["value"]?.stringValue.flatMap({ Int64($0) })
            {
                best[board] = min(value, best[board] ?? value)
            }
        }
    }

    private static let eventCount = TestStage.size("KILL_EVENTS", usual: 300, long: 1_000)

    @Test("Events of a playing game survive five kills of the daemon and two restarts of a flaky endpoint")
    func survives() throws {
        let scenario = try Scenario()
        try scenario.setFaults("--failure-share", "0.3", "--drop-answer=0.1", "--seed", "7")
        try scenario.daemon.start()
        let acknowledged = try play(scenario)
        #expect(acknowledged.count >= Self.eventCount)

        try scenario.setFaults("--clear")
        try scenario.kleos("flush")
        try scenario.drain()
        let client = try PracticeClient(url: scenario.home.url)
        let counts = try #require(try client.get("/counts").json)
        #expect(counts["mostEffectsOfOneKey"]?.int64Value == 1, "a key took effect more than once")
        try expectAchievements(acknowledged, client)
        try expectBests(acknowledged, client)
        #expect(try scenario.rows("list", "--state", "dead").isEmpty)
        try expectNotices(acknowledged, scenario)
        #expect(scenario.daemon.stop() == .exited(0))
    }

    private func play(_ scenario: Scenario) throws -> Acknowledged {
        let game = try ChildProcess(
            BuiltPrograms.path("kleos-minesweeper"),
            ["--events", String(Self.eventCount), "--level", "beginner", "--player", "mira", "--seed", "3", "--json"],
            environment: ["KLEOS_SOCKET": scenario.daemon.socketPath],
            errorFile: scenario.daemon.folder.path("game.err"))
        var acknowledged = Acknowledged()
        let step = Self.eventCount / 6
        while let line = try game.nextLine() {
            acknowledged.add(try JSONParser.parse(Array(line.utf8)))
            if acknowledged.count.isMultiple(of: step), acknowledged.count / step <= 5 {
                scenario.daemon.kill()
                if (acknowledged.count / step).isMultiple(of: 2) { try scenario.restartHome() }
                try scenario.daemon.start()
            }
        }
        #expect(game.wait() == .exited(0))
        return acknowledged
    }

    private func expectAchievements(_ acknowledged: Acknowledged, _ client: PracticeClient) throws {
        let rows = try #require(try client.get("/achievements").json?["achievements"]?.arrayValue)
        let unlocked = rows.filter { $0["unlocked"]?.boolValue == true }.compactMap { $0["achievement"]?.stringValue }
        #expect(Set(unlocked).isSuperset(of: acknowledged.achievements))
        #expect(Set(unlocked).count == unlocked.count)
    }

    private func expectBests(_ acknowledged: Acknowledged, _ client: PracticeClient) throws {
        #expect(!acknowledged.best.isEmpty)
        for (board, best) in acknowledged.best {
            let entries = try client.get("/boards/minesweeper/\(board)").json?["entries"]?.arrayValue
            #expect(entries?.first?["value"]?.stringValue == String(best), "\(board) does not hold the true best")
        }
    }

    private func expectNotices(_ acknowledged: Acknowledged, _ scenario: Scenario) throws {
        let notices = try scenario.rows("notices", "--limit", "500")
        let told = Set(notices.compactMap { $0["achievement"]?.stringValue })
        #expect(told.isSuperset(of: acknowledged.achievements), "an unlocked achievement was not told")
        for (board, best) in acknowledged.best {
            let values = notices.filter { $0["leaderboard"]?.stringValue == board }.compactMap {
                $0["value"]?.stringValue
            }
            #expect(values.contains(String(best)), "the best of \(board) was not told")
        }
    }
}

extension Scenario {
    /// Kills the endpoint and starts it again with the same store and the same faults.
    func restartHome() throws {
        let faults = try PracticeClient(url: home.url).get("/faults").body
        try home.restart()
        _ = try PracticeClient(url: home.url).post("/faults", JSONParser.parse(faults))
    }
}
