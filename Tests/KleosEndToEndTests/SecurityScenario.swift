import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// A daemon that logs everything, with the sample game and one endpoint of a test's own.
final class SecurityScenario {
    let daemon: DaemonHarness

    /// `endpoint` adds lines to the endpoint's section, `game` to the game's.
    init(url: String, endpoint: String = "", game: String = "", settings: String = "") throws {
        let catalog = try SmallFile.readText(at: Scenario.repositoryPath("config/games.d/minesweeper.conf"))
        daemon = try DaemonHarness(files: [
            "kleosd.conf": "[Daemon]\nLogLevel=debug\n\(settings)",
            "endpoints.d/home.conf": "[Endpoint]\nURL=\(url)\n\(endpoint)\n[Retry]\nBase=250ms\nCap=500ms\n",
            "games.d/minesweeper.conf": catalog.replacing("Endpoints=home\n", with: "Endpoints=home\n\(game)"),
        ])
    }

    /// Lets other users reach the sockets, as those of the system's daemon are reached.
    func openFolder() throws {
        try #require(chmod(daemon.folder.path, 0o755) == 0)
    }

    /// Runs `kleos` and requires success; returns what it printed.
    @discardableResult
    func kleos(_ arguments: String...) throws -> String {
        let result = try daemon.kleos(arguments)
        try #require(result.isSuccess, "kleos \(arguments): \(result.output)\(result.errors)")
        return result.output
    }

    /// Hands over a time on the Beginner leaderboard; returns the event's key.
    @discardableResult
    func submit(_ value: Int, player: String = "ada") throws -> String {
        let text = try kleos(
            "submit", "score", "minesweeper", "beginner", String(value), "--player", player, "--json")
        return try #require(try JSONParser.parse(Array(text.utf8))["key"]?.stringValue)
    }

    /// Asks again, each time an answered request, until `isTrue`.
    func wait(for what: String, until isTrue: () throws -> Bool) throws {
        if try Patience.until(isTrue) { return }
        Issue.record("never: \(what); the log: \(try daemon.log)")
    }

    /// The attempts of one event at its endpoint.
    func attempts(_ key: String) throws -> [JSONValue] {
        let event = try JSONParser.parse(Array(try kleos("show", key, "--json").utf8))
        return event["deliveries"]?.arrayValue?.first?["receipt"]?.arrayValue ?? []
    }
}
