import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// The commands of docs/operations.md work as they are printed.
@Suite("Examples of docs/operations.md", .timeLimit(.minutes(30)))
struct OperationsDocumentTests {
    private static func block(_ header: String) throws -> String {
        let text = try SmallFile.readText(at: Scenario.repositoryPath("docs/operations.md"))
        let parts = text.split(separator: "```sh \(header)\n", maxSplits: 1)
        try #require(parts.count == 2, "docs/operations.md has no block \(header)")
        return try #require(parts[1].split(separator: "\n```", maxSplits: 1).first.map { $0 + "\n" }).description
    }

    /// Runs a block in the daemon's folder, against that daemon.
    private func shell(_ daemon: DaemonHarness, _ header: String) throws -> ChildProcess.Result {
        let start = "PATH=\(BuiltPrograms.folder):$PATH; cd '\(daemon.folder.path)'; PLAYER='ada l.'; set -e\n"
        try daemon.write("example.sh", start + (try Self.block(header)))
        let errors = daemon.folder.path("example.err")
        unlink(errors)
        return try ChildProcess(
            "/bin/sh", [daemon.folder.path("example.sh")],
            environment: ["KLEOS_SOCKET": daemon.socketPath, "KLEOS_CONTROL_SOCKET": daemon.controlPath],
            errorFile: errors
        ).finish()
    }

    private func succeeded(_ daemon: DaemonHarness, _ header: String) throws -> String {
        let result = try shell(daemon, header)
        #expect(result.isSuccess, "\(header): \(result.output)\(result.errors)")
        return result.output
    }

    @Test("Status, monitoring, backup, erasing, clones, moving and putting things in order")
    func works() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.daemonSubmit(player: "ada l.", value: 9_000)
        try scenario.drain()
        #expect(try succeeded(scenario.daemon, "status").contains("kleosd "))
        #expect(try succeeded(scenario.daemon, "check").hasPrefix("KLEOS OK"))
        #expect(try succeeded(scenario.daemon, "dead").contains("0 deliveries"))
        #expect(try succeeded(scenario.daemon, "backup").contains("checked and whole"))
        #expect(try succeeded(scenario.daemon, "forget").hasPrefix("1 event,"))
        #expect(try succeeded(scenario.daemon, "adopt").contains("0 deliveries go on"))
        #expect(try succeeded(scenario.daemon, "reset").contains("0 deliveries of the other one discarded"))
        _ = try succeeded(scenario.daemon, "hold")
        try scenario.daemonSubmit(player: "bob", value: 9_000)
        try scenario.drain()
        #expect(try succeeded(scenario.daemon, "export").hasPrefix("1 event exported"))
        #expect(try succeeded(scenario.daemon, "import") == "0 events brought over, 1 already there\n")
    }

    @Test("The line for monitoring looks as printed")
    func checkLine() throws {
        let practice = try PracticeProcess()
        practice.kill()
        let daemon = try DaemonHarness(files: [
            "endpoints.d/home.conf": "[Endpoint]\nURL=\(practice.url)\n",
            "games.d/minesweeper.conf": try Scenario.sampleGame,
        ])
        try daemon.start()
        try #require(
            try daemon.kleos(["submit", "score", "minesweeper", "beginner", "9", "--player", "ada"]).isSuccess)
        var result = try shell(daemon, "check")
        let isFailing = try Patience.until {
            result = try shell(daemon, "check")
            return result.ending == .exited(1)
        }
        #expect(isFailing)
        let text = try SmallFile.readText(at: Scenario.repositoryPath("docs/operations.md"))
        let printed = try #require(text.split(separator: "\n").first { $0.hasPrefix("KLEOS WARNING:") })
        let shape: (Substring) -> [Substring] = { line in
            line.split { !$0.isLetter && $0 != "_" }.filter {
                !["second", "seconds", "minute", "minutes"].contains($0)
            }
        }
        let words = shape(result.output[...])
        for word in shape(printed) { #expect(words.contains(word), "\(word) is not in \(result.output)") }
    }
}
