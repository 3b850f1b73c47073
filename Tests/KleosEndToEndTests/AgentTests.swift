import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// From the endpoint's word to the player's eyes: the real daemon, agent and notification service.
@Suite("The desktop is told")
struct AgentTests {
    private static let missing = DesktopSession.missingPackages
    private static let comment: Comment = "install dbus-daemon, xvfb and dunst to run this"

    private func startAgent(_ scenario: Scenario, _ desktop: DesktopSession) throws -> ChildProcess {
        try ChildProcess(
            BuiltPrograms.path("kleos"), ["agent", "--verbose", "--private", scenario.daemon.folder.path],
            environment: desktop.variables, errorFile: scenario.daemon.folder.path("agent.log"))
    }

    /// Waits until no notice is pending.
    private func waitUntilTold(_ count: Int, _ scenario: Scenario) throws {
        let isTold = try Patience.until {
            let rows = try scenario.rows("notices")
            return rows.count == count && rows.allSatisfy { $0["shownAt"] != nil }
        }
        if isTold { return }
        Issue.record("not told: \(try scenario.rows("notices").map(\.serialized))")
    }

    private func routes(_ scenario: Scenario) throws -> Set<String> {
        Set(try scenario.rows("notices").compactMap { $0["route"]?.stringValue })
    }

    @Test(
        "What was confirmed is shown once, also when the daemon was killed before anybody was there",
        .enabled(if: missing.isEmpty, comment))
    func showsOnce() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        let desktop = try DesktopSession(folder: scenario.daemon.folder.path)
        try desktop.startNotifications()
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        try scenario.drain()
        scenario.daemon.kill()
        let agent = try startAgent(scenario, desktop)
        try scenario.daemon.start()
        try waitUntilTold(1, scenario)
        #expect(try desktop.history().map(\.summary) == ["Achievement unlocked: Minesweeper"])

        // The idle agent is told of the next one, and finds the daemon again after a kill.
        try scenario.kleos("submit", "score", "minesweeper", "beginner", "12345", "--player", "mira")
        try waitUntilTold(2, scenario)
        scenario.daemon.kill()
        try scenario.daemon.start()
        try scenario.kleos("submit", "score", "minesweeper", "beginner", "8080", "--player", "mira")
        try waitUntilTold(3, scenario)
        if let picture = Environment["KLEOS_TEST_PICTURE"] { try desktop.takePicture(picture) }
        let shown = try desktop.history()
        #expect(
            shown.map(\.summary) == ["Achievement unlocked: Minesweeper", "Beginner: 12.345 s", "Beginner: 8.080 s"])
        #expect(try routes(scenario) == ["desktop"])
        agent.send(SIGTERM)
        #expect(agent.wait() == .killed(signal: SIGTERM))
    }

    @Test("Many are one digest", .enabled(if: missing.isEmpty, comment))
    func makesDigest() throws {
        let scenario = try Scenario(game: "Notices=all\n")
        try scenario.daemon.start()
        for player in 1...8 { try scenario.daemonSubmit(player: "p\(player)", value: 9_000 + player) }
        try scenario.drain()
        let desktop = try DesktopSession(folder: scenario.daemon.folder.path)
        try desktop.startNotifications()
        let agent = try startAgent(scenario, desktop)
        try waitUntilTold(8, scenario)
        let shown = try desktop.history()
        #expect(shown.count == 1)
        #expect(shown.first?.body.contains("8 scores were saved while you were away") == true, "\(shown)")
        agent.send(SIGTERM)
        agent.wait()
    }

    @Test("DigestAfter= says what is old", .enabled(if: missing.isEmpty, comment))
    func followsDigestAfter() throws {
        let scenario = try Scenario()
        try scenario.daemon.write("kleosd.conf", "[Notices]\nDigestAfter=1s\n")
        try scenario.setFaults("--down")
        try scenario.daemon.start()
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        try scenario.kleos("submit", "score", "minesweeper", "beginner", "8080", "--player", "mira")
        // The events have to grow older than the setting's least value: a second of real time.
        poll(nil, 0, 1_100)
        try scenario.setFaults("--up")
        try scenario.kleos("flush")
        try scenario.drain()
        let desktop = try DesktopSession(folder: scenario.daemon.folder.path)
        try desktop.startNotifications()
        let agent = try startAgent(scenario, desktop)
        try waitUntilTold(2, scenario)
        let shown = try desktop.history()
        #expect(shown.count == 1, "\(shown)")
        #expect(shown.first?.body.contains("1 achievement and 1 score were saved while you were away") == true)
        agent.send(SIGTERM)
        agent.wait()
    }

    @Test("A mute game shows nothing", .enabled(if: missing.isEmpty, comment))
    func staysMute() throws {
        let scenario = try Scenario(game: "Notices=none\n")
        try scenario.daemon.write(
            "games.d/loud.conf", "[Game]\nTitle=Loud\nEndpoints=home\n\n[Achievement bang]\nTitle=Bang\n")
        try scenario.daemon.start()
        let desktop = try DesktopSession(folder: scenario.daemon.folder.path)
        try desktop.startNotifications()
        let agent = try startAgent(scenario, desktop)
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        try scenario.drain()
        try scenario.kleos("submit", "achievement", "loud", "bang", "--player", "mira")
        try waitUntilTold(1, scenario)
        #expect(try desktop.history().map(\.summary) == ["Achievement unlocked: Bang"])
        agent.send(SIGTERM)
        agent.wait()
    }

    @Test("A click on a notice starts its game with the event", .enabled(if: missing.isEmpty, comment))
    func followsAClick() throws {
        let scenario = try Scenario()
        let started = try Fifo(scenario.daemon.folder.path("started"))
        try scenario.daemon.write(
            "start.sh", "#!/bin/sh\necho \"$KLEOS_PLAYER $KLEOS_ACHIEVEMENT\" >'\(started.path)'\n")
        chmod(scenario.daemon.folder.path("start.sh"), 0o700)
        try scenario.daemon.write(
            "games.d/minesweeper.conf.d/start.conf",
            "[Game]\nStart=\(scenario.daemon.folder.path("start.sh"))\n")
        try scenario.daemon.start()
        let desktop = try DesktopSession(folder: scenario.daemon.folder.path)
        try desktop.startNotifications()
        let agent = try startAgent(scenario, desktop)
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        try waitUntilTold(1, scenario)
        _ = try desktop.control("action")
        #expect(try started.nextLine() == "mira first-win")
        agent.send(SIGTERM)
        agent.wait()
    }
}
