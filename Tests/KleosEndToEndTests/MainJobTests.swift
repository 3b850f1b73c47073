import Glibc
import KleosJSON
import KleosPractice
import KleosSupport
import KleosTestSupport
import Testing

/// The main job as a user sees it: from the game to the leaderboard to the player.
@Suite("The main job")
struct MainJobTests {
    @Test("What a game earned while the service was down is delivered once when it comes back")
    func survivesOutage() throws {
        let scenario = try Scenario()
        try scenario.setFaults("--down")
        try scenario.daemon.start()
        try scenario.kleos("submit", "score", "minesweeper", "beginner", "8080", "--player", "mira")
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        let waiting = try scenario.kleos("status")
        #expect(waiting.contains("2 deliveries"))

        try scenario.setFaults("--up")
        try scenario.kleos("flush")
        try scenario.drain()
        #expect(try scenario.kleos("list").contains("2 deliveries: 2 delivered"))
        let counts = try scenario.counts()
        #expect(counts["effects"]?.int64Value == 2)
        #expect(counts["mostEffectsOfOneKey"]?.int64Value == 1)

        let notices = try scenario.kleos("notices")
        #expect(notices.contains("Achievement unlocked: Minesweeper"))
        #expect(notices.contains("8.080 s"))

        let standing = try scenario.kleos("standing", "minesweeper", "--player", "mira")
        #expect(standing.contains("beginner"))
        #expect(standing.contains("first-win"))
    }

    @Test("A receipt shows every attempt with the endpoint's answer")
    func showsReceipt() throws {
        let scenario = try Scenario()
        try scenario.setFaults("--script", "503,200")
        try scenario.daemon.start()
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira", "--id", "once")
        try scenario.drain()
        let key = try #require(try scenario.rows("list").first?["key"]?.stringValue)
        let receipt = try scenario.kleos("show", key)
        #expect(receipt.contains("To home: delivered"))
        #expect(receipt.contains("HTTP 503"))
        #expect(receipt.contains("HTTP 200"))
        #expect(receipt.contains("\"unlocked\":true"))
    }

    @Test("The same id is one event, and another event under it is refused")
    func deduplicates() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        let arguments = ["submit", "score", "minesweeper", "beginner", "900", "--player", "mira", "--id", "game-1"]
        let first = try scenario.daemon.kleos(arguments)
        let second = try scenario.daemon.kleos(arguments)
        #expect(first.isSuccess && second.isSuccess)
        var other = arguments
        other[4] = "901"
        let conflict = try scenario.daemon.kleos(other)
        #expect(!conflict.isSuccess)
        #expect(conflict.errors.contains("id-conflict"))
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 1)
    }

    @Test("The game asks for its standing and awards nothing twice")
    func asksStanding() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        for _ in 0..<2 {
            let game = try ChildProcess(
                BuiltPrograms.path("kleos-minesweeper"),
                ["--auto", "3", "--level", "beginner", "--seed", "11", "--player", "mira", "--quiet"],
                environment: ["KLEOS_SOCKET": scenario.daemon.socketPath],
                errorFile: scenario.daemon.folder.path("game.err"))
            #expect(try game.finish().isSuccess)
            try scenario.drain()
        }
        let achievements = try scenario.rows("list", "--kind", "achievement", "--all")
            .filter { $0["progress"]?.int64Value == 100 }.compactMap { $0["achievement"]?.stringValue }
        #expect(!achievements.isEmpty)
        #expect(Set(achievements).count == achievements.count)
    }

    @Test("Two endpoints: while one is down the other gets everything")
    func fansOut() throws {
        let scenario = try Scenario(endpointCount: 2)
        try scenario.setFaults("--down", of: scenario.endpoints[0])
        try scenario.daemon.start()
        for number in 1...40 {
            try scenario.daemonSubmit(player: "player-\(number)", value: 1_000 + number)
        }
        try scenario.waitForEffects(40, at: scenario.endpoints[1])
        #expect(try scenario.counts(of: scenario.endpoints[0])["effects"]?.int64Value == 0)
        try scenario.setFaults("--up", of: scenario.endpoints[0])
        try scenario.kleos("flush")
        try scenario.drain()
        #expect(try scenario.counts(of: scenario.endpoints[0])["effects"]?.int64Value == 40)
        #expect(try scenario.counts(of: scenario.endpoints[1])["effects"]?.int64Value == 40)
    }

    @Test("A rejected event is visible among the dead, and delays none of the others")
    func rejectsOne() throws {
        let scenario = try Scenario()
        try scenario.setFaults(
            "--reject", #"{"leaderboard": "beginner", "player": "cheat", "status": 422, "code": "implausible"}"#)
        try scenario.daemon.start()
        for number in 1...100 {
            try scenario.daemonSubmit(player: number == 50 ? "cheat" : "player-\(number)", value: 1_000 + number)
        }
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 99)
        let dead = try scenario.kleos("list", "--state", "dead")
        #expect(dead.contains("cheat"))
        let key = try #require(try scenario.rows("list", "--state", "dead").first?["key"]?.stringValue)
        let receipt = try scenario.kleos("show", key)
        #expect(receipt.contains("implausible"))
        let first = try scenario.rows("list", "--all")
            .filter { $0["player"]?.stringValue != "cheat" }
        #expect(first.allSatisfy { $0["attempts"]?.int64Value == 1 })
    }

    @Test("A bogus better score that is rejected does not lose the best that it replaced")
    func restoresTrueBest() throws {
        let scenario = try Scenario()
        try scenario.setFaults("--down")
        try scenario.daemon.start()
        try scenario.daemonSubmit(player: "mira", value: 5_000)
        try scenario.daemonSubmit(player: "mira", value: 4)
        try scenario.setFaults(
            "--up", "--reject",
            #"{"leaderboard": "beginner", "valueBelow": "10", "status": 422, "code": "implausible"}"#)
        try scenario.kleos("flush")
        try scenario.drain()
        let boards = try PracticeClient(url: scenario.home.url).get("/boards").json
        #expect(boards?.serialized.contains("\"5000\"") == true)
        #expect(try scenario.rows("list", "--state", "dead").count == 1)
    }

    @Test("A wrong URL buries nothing: the endpoint is paused, and a corrected one delivers all")
    func survivesWrongURL() throws {
        let scenario = try Scenario()
        try scenario.setFaults("--not-found")
        try scenario.daemon.start()
        for number in 1...12 { try scenario.daemonSubmit(player: "player-\(number)", value: 1_000 + number) }
        try scenario.waitForLog("is paused: rejecting")
        let status = try scenario.kleos("status")
        #expect(status.contains("paused"))
        #expect(status.contains("Check URL="))
        #expect(try scenario.rows("list", "--state", "dead").isEmpty)

        try scenario.setFaults("--clear")
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 12)
    }
}
