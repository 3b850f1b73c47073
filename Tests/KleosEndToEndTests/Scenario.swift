import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// A private daemon with the sample game and practice endpoints, all as real programs.
final class Scenario {
    let daemon: DaemonHarness
    let endpoints: [PracticeProcess]

    /// Makes `endpointCount` endpoints named `home`, `second`, … and configures the game to go to all of them.
    /// `game` adds lines to the game's section, `endpoint` to each endpoint's file.
    init(endpointCount: Int = 1, game: String = "", endpoint: String = "[Retry]\nBase=250ms\nCap=500ms\n") throws {
        endpoints = try (0..<endpointCount).map { _ in try PracticeProcess() }
        let names = Self.names.prefix(endpointCount)
        var files: [String: String] = [:]
        for (name, practice) in zip(names, endpoints) {
            files["endpoints.d/\(name).conf"] = "[Endpoint]\nURL=\(practice.url)\n\(endpoint)"
        }
        files["games.d/minesweeper.conf"] = try Self.sampleGame.replacing(
            "Endpoints=home\n", with: "Endpoints=\(names.joined(separator: " "))\n\(game)")
        daemon = try DaemonHarness(files: files)
    }

    private static let names = ["home", "second", "third"]

    var home: PracticeProcess { endpoints[0] }

    /// The file of the sample game, which goes to an endpoint `home`.
    static var sampleGame: String {
        get throws { try SmallFile.readText(at: repositoryPath("config/games.d/minesweeper.conf")) }
    }

    /// The path of a file of the repository.
    static func repositoryPath(_ name: String, file: String = #filePath) -> String {
        file.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/\(name)"
    }

    /// Runs `kleos` and requires success; returns what it printed.
    @discardableResult
    func kleos(_ arguments: String..., input: String? = nil) throws -> String {
        let result = try daemon.kleos(arguments, input: input)
        try #require(result.isSuccess, "kleos \(arguments): \(result.output)\(result.errors)")
        return result.output
    }

    /// Sets what the endpoint does wrong.
    func setFaults(_ arguments: String..., of practice: PracticeProcess? = nil) throws {
        let result = try (practice ?? home).steer("faults", arguments)
        try #require(result.isSuccess, "faults \(arguments): \(result.output)\(result.errors)")
    }

    /// What the endpoint counted: requests, effects.
    func counts(of practice: PracticeProcess? = nil) throws -> JSONValue {
        let result = try (practice ?? home).steer("counts", [])
        try #require(result.isSuccess, "counts: \(result.errors)")
        return try JSONParser.parse(Array(result.output.utf8))
    }

    /// Waits until nothing is on its way any more.
    func drain(timeoutSeconds: Int = 600) throws {
        try kleos("watch", "--until-empty", "--timeout", String(timeoutSeconds), "--quiet")
    }

    /// The rows of a `--json` listing.
    func rows(_ arguments: String...) throws -> [JSONValue] {
        let result = try daemon.kleos(arguments + ["--json"])
        try #require(result.isSuccess, "kleos \(arguments): \(result.errors)")
        return try result.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    }
}

extension Scenario {
    /// Hands over a time on the Beginner leaderboard.
    func daemonSubmit(player: String, value: Int) throws {
        try kleos("submit", "score", "minesweeper", "beginner", String(value), "--player", player)
    }

    /// Waits until `practice` counts so many effects.
    func waitForEffects(_ count: Int64, at practice: PracticeProcess) throws {
        let isReached = try Patience.until { try counts(of: practice)["effects"]?.int64Value ?? 0 >= count }
        if isReached { return }
        Issue.record("the endpoint never counted \(count) effects: \(try counts(of: practice).serialized)")
    }

    /// Waits until the daemon has logged `text`.
    func waitForLog(_ text: String) throws {
        if try Patience.until({ try daemon.log.contains(text) }) { return }
        Issue.record("the daemon never logged \(text): \(try daemon.log)")
    }
}
