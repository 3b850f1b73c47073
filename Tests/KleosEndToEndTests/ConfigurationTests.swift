import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// A configuration with errors stops nothing that runs and starts nothing that does not.
@Suite("Configuration of the real programs")
struct ConfigurationTests {
    private static let game = """
        [Game]
        Id=demo
        Endpoints=home
        [Leaderboard runs]
        Keep=best
        """
    private static let endpoint = "[Endpoint]\nURL=http://127.0.0.1:1\n"

    @Test("The daemon does not start with errors, and says where they are")
    func refusesToStart() throws {
        let daemon = try DaemonHarness(files: [
            "games.d/demo.conf": Self.game + "\nOrdre=ascending\n", "endpoints.d/home.conf": Self.endpoint,
        ])
        let process = try ChildProcess(
            BuiltPrograms.path("kleosd"), ["--private", daemon.folder.path], errorFile: daemon.folder.path("err"))
        let result = try process.finish()
        #expect(result.ending == .exited(78))
        #expect(result.errors.contains("games.d/demo.conf:6:"))
        #expect(result.errors.contains("Order"))
        #expect(try !Folder.names(in: daemon.folder.path).contains("outbox.db"))
    }

    @Test("A check finds the same errors without a daemon")
    func checks() throws {
        let daemon = try DaemonHarness(files: [
            "games.d/demo.conf": Self.game, "endpoints.d/home.conf": "[Endpoint]\nURL=ftp://example.org\n",
        ])
        let bad = try daemon.kleos(["config", "check", "--private", daemon.folder.path])
        #expect(bad.ending == .exited(78))
        #expect((bad.output + bad.errors).contains("home.conf:2:"))
        try daemon.write("endpoints.d/home.conf", Self.endpoint)
        #expect(try daemon.kleos(["config", "check", "--private", daemon.folder.path]).isSuccess)
    }

    @Test("A reload with errors changes nothing, and one without applies at once")
    func reloads() throws {
        let daemon = try DaemonHarness(files: [
            "games.d/demo.conf": Self.game, "endpoints.d/home.conf": Self.endpoint,
        ])
        try daemon.start()
        try daemon.write("games.d/demo.conf", Self.game + "\n[Leaderboard more]\nKeep=often\n")
        let refused = try daemon.kleos(["reload"])
        #expect(!refused.isSuccess)
        #expect(refused.errors.contains("demo.conf:7:"))
        let submit = ["submit", "score", "demo", "runs", "1", "--player", "mira"]
        #expect(try daemon.kleos(submit).isSuccess)

        try daemon.write("games.d/demo.conf", Self.game + "\n[Leaderboard more]\nKeep=latest\n")
        let applied = try daemon.kleos(["reload"])
        #expect(applied.isSuccess)
        #expect(applied.output.contains("Leaderboard more"))
        #expect(try daemon.kleos(["submit", "score", "demo", "more", "1", "--player", "mira"]).isSuccess)
    }

    @Test("What belongs to a game that left the configuration is held, and goes on when it is back")
    func holdsUnconfigured() throws {
        let daemon = try DaemonHarness(files: [
            "games.d/demo.conf": Self.game, "endpoints.d/home.conf": Self.endpoint,
        ])
        try daemon.start()
        #expect(try daemon.kleos(["submit", "score", "demo", "runs", "1", "--player", "mira"]).isSuccess)
        unlink(daemon.folder.path("games.d/demo.conf"))
        #expect(try daemon.kleos(["reload"]).isSuccess)
        #expect(try daemon.kleos(["list"]).output.contains("unconfigured"))
        try daemon.write("games.d/demo.conf", Self.game)
        #expect(try daemon.kleos(["reload"]).isSuccess)
        #expect(try daemon.kleos(["list"]).output.contains("ready"))
    }

    @Test("Each effective value is shown with its source")
    func shows() throws {
        let daemon = try DaemonHarness(files: [
            "games.d/demo.conf": Self.game, "endpoints.d/home.conf": Self.endpoint,
        ])
        let shown = try daemon.kleos(["config", "show", "--private", daemon.folder.path])
        #expect(shown.isSuccess)
        #expect(shown.output.contains("home.conf:2"))
        #expect(shown.output.contains("default"))
    }
}
