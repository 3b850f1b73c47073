import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// The command of `[Notices] Command=`, run by the real daemon.
@Suite("The notice command")
struct HookTests {
    /// The objects that the command was given so far.
    private func seen(_ scenario: Scenario) throws -> [JSONValue] {
        guard access(scenario.daemon.folder.path("seen"), F_OK) == 0 else { return [] }
        return try SmallFile.readText(at: scenario.daemon.folder.path("seen")).split(separator: "\n").map {
            try JSONParser.parse(Array($0.utf8))
        }
    }

    private func setHook(_ script: String, _ scenario: Scenario) throws {
        let path = scenario.daemon.folder.path("hook")
        let text = "#!/bin/sh\ncd '\(scenario.daemon.folder.path)'\n\(script)\n"
        try SmallFile.replace(path, with: Array(text.utf8), mode: 0o700)
        try scenario.daemon.write("kleosd.conf", "[Notices]\nCommand=\(path)\n")
    }

    private func waitUntilTold(_ count: Int, _ scenario: Scenario) throws {
        let isTold = try Patience.until {
            let rows = try scenario.rows("notices")
            return rows.count == count && rows.allSatisfy { $0["route"] == "command" }
        }
        if isTold { return }
        Issue.record("not told: \(try scenario.rows("notices").map(\.serialized))")
    }

    @Test("Each notice is given to it once, as one JSON object")
    func getsEachOnce() throws {
        let scenario = try Scenario()
        try setHook("cat >> seen", scenario)
        try scenario.daemon.start()
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        try scenario.kleos("submit", "score", "minesweeper", "beginner", "8080", "--player", "mira")
        try waitUntilTold(2, scenario)
        let rows = try seen(scenario)
        #expect(
            Set(rows.compactMap { $0["title"]?.stringValue }) == [
                "Achievement unlocked: Minesweeper", "Beginner: 8.080 s",
            ])
        #expect(rows.count == 2)
        #expect(rows.allSatisfy { $0["player"] == "mira" && $0["game"] == "minesweeper" })
        #expect(scenario.daemon.stop() == .exited(0))
    }

    @Test("A kill of the daemon while it runs repeats the notice, and loses none")
    func survivesKill() throws {
        let scenario = try Scenario()
        // The first run never ends by itself; it goes with the daemon's socket or after this test's own signal.
        try setHook("cat >> seen; test -e started || { touch started; read _ < gate; }", scenario)
        let folder = scenario.daemon.folder
        #expect(mkfifo(folder.path("gate"), 0o600) == 0)
        try scenario.daemon.start()
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        #expect(Patience.until { access(folder.path("started"), F_OK) == 0 })
        scenario.daemon.kill()
        // Opening the gate for reading and writing never blocks; closing it ends the command that waits there.
        let gate = open(folder.path("gate"), O_RDWR | O_CLOEXEC)
        #expect(gate >= 0)
        try scenario.daemon.start()
        try waitUntilTold(1, scenario)
        close(gate)
        let keys = try seen(scenario).compactMap { $0["key"]?.stringValue }
        #expect(keys.count == 2)
        #expect(Set(keys).count == 1)
        #expect(scenario.daemon.stop() == .exited(0))
    }
}
