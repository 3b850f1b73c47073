import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// Text from games, services and configuration in the outputs that people read.
@Suite("Security: text")
struct SecurityTextTests {
    /// Clears the screen, sets the title, turns the direction, begins a line, in seven and in eight bits.
    private static let hostile =
        "x\u{1B}[2J\u{1B}]0;owned\u{07}\u{9B}2J\u{202E}evil\u{2066}\u{200F}\u{2028}y\u{E0041}\u{FEFF}\r\nkleos: error: forged"

    private static let unsafe: [Unicode.Scalar] = [
        "\u{1B}", "\u{07}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{200F}", "\u{2028}", "\u{E0041}", "\u{FEFF}", "\r",
    ]

    private func check(_ text: String, _ place: String) {
        for scalar in Self.unsafe where text.unicodeScalars.contains(scalar) {
            Issue.record("\(place) holds U+\(String(scalar.value, radix: 16)): \(text.debugDescription.prefix(300))")
        }
    }

    /// A daemon whose service refuses everything with hostile words.
    private func scenario() throws -> (SecurityScenario, ScriptedEndpoint) {
        let words = JSONValue.string(Self.hostile).serialized
        let endpoint = try ScriptedEndpoint([
            ScriptedEndpoint.http("500 No", body: #"{"error":{"code":\#(words),"message":\#(words)}}"#),
            ScriptedEndpoint.http("302 Found", ["Location: https://x/\u{1B}[2J\u{9B}"], body: Self.hostile),
            ScriptedEndpoint.http("400 No", body: #"{"error":{"code":\#(words),"message":\#(words)}}"#),
        ])
        let scenario = try SecurityScenario(url: endpoint.url)
        try scenario.daemon.start()
        return (scenario, endpoint)
    }

    @Test("S-40: control characters and marks of direction are shown as escapes by every command")
    func commandLine() throws {
        let (scenario, endpoint) = try scenario()
        defer { withExtendedLifetime(endpoint) {} }
        let key = try scenario.submit(500, player: Self.hostile)
        try scenario.wait(for: "it is dead") { try !scenario.kleos("list", "--json", "--state", "dead").isEmpty }
        #expect(endpoint.requests.count == 3)
        let commands = [
            ["list"], ["show", key], ["status"], ["standing", "minesweeper"], ["notices"],
            ["show", Self.hostile], ["submit", "score", Self.hostile, "b", "1"],
            ["submit", "score", "minesweeper", Self.hostile, "1", "--player", "ada"], ["pause", Self.hostile],
            [Self.hostile], ["list", "--\(Self.hostile)"],
        ]
        for command in commands {
            let result = try scenario.daemon.kleos(command)
            check(result.output + result.errors, "kleos \(command[0].prefix(8))")
        }
        let shown = try scenario.kleos("show", key)
        #expect(shown.contains(#"x\u{1b}[2J\u{1b}]0;owned"#))
        // Nothing that a service said begins a line of its own.
        #expect(!shown.split(separator: "\n").contains { $0.hasPrefix("kleos: error: forged") })
    }

    @Test("S-41: JSON for programs says the same values, and nothing that a terminal would follow")
    func json() throws {
        let (scenario, endpoint) = try scenario()
        defer { withExtendedLifetime(endpoint) {} }
        let key = try scenario.submit(500, player: Self.hostile)
        try scenario.wait(for: "it is dead") { try !scenario.kleos("list", "--json", "--state", "dead").isEmpty }
        for command in [["list"], ["show", key], ["status"], ["standing", "minesweeper"]] {
            let result = try scenario.daemon.kleos(command + ["--json"])
            #expect(result.isSuccess)
            check(result.output + result.errors, "kleos \(command[0]) --json")
        }
        let row = try JSONParser.parse(Array(try scenario.kleos("list", "--json").utf8))
        #expect(row["player"]?.stringValue == Self.hostile)
    }

    @Test("S-42: nothing that a game, a service or a file says begins a line of the log or hides in one")
    func log() throws {
        let (scenario, endpoint) = try scenario()
        defer { withExtendedLifetime(endpoint) {} }
        try scenario.submit(500, player: Self.hostile)
        try scenario.wait(for: "it is dead") { try !scenario.kleos("list", "--json", "--state", "dead").isEmpty }
        // Wrong configuration is quoted in the log as well.
        try scenario.daemon.write("games.d/odd.conf", "[Game]\nTitle=\u{9B}2J\u{202E}\nOdd\u{202E}=x\n")
        #expect(try !scenario.daemon.kleos(["reload"]).isSuccess)
        let log = try scenario.daemon.log
        check(log, "the log")
        #expect(log.contains("owned"))
        for line in log.split(separator: "\n") {
            #expect(line.hasPrefix("kleos: ") && !line.hasPrefix("kleos: error: forged"), "\(line)")
        }
    }
}
