import Glibc
import KleosClient
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// What the README prints works as it is printed.
@Suite("Examples of the README")
struct ReadmeTests {
    /// The text of the fenced block that begins with the words `header`.
    private static func block(_ header: String) throws -> String {
        let text = try SmallFile.readText(at: Scenario.repositoryPath("README.md"))
        let parts = text.split(separator: "```\(header)\n", maxSplits: 1)
        try #require(parts.count == 2, "README.md has no block \(header)")
        return try #require(parts[1].split(separator: "\n```", maxSplits: 1).first.map { $0 + "\n" }).description
    }

    /// A daemon with the README's own configuration, its endpoint moved to a practice endpoint of the test.
    private func harness(_ practice: PracticeProcess) throws -> DaemonHarness {
        let endpoint = try Self.block("ini endpoint").replacing("http://127.0.0.1:8484", with: practice.url)
        let daemon = try DaemonHarness(files: [
            "games.d/mygame.conf": try Self.block("ini game"), "endpoints.d/home.conf": endpoint,
        ])
        try daemon.start()
        return daemon
    }

    private func expectDelivered(_ daemon: DaemonHarness, file: String = #fileID) throws {
        #expect(try daemon.kleos(["watch", "--until-empty", "--timeout", "600", "--quiet"]).isSuccess)
        let listed = try daemon.kleos(["list", "--state", "delivered"])
        #expect(listed.output.contains("first-blood"))
        #expect(listed.output.contains("speedrun"))
    }

    @Test("Shell")
    func shell() throws {
        let practice = try PracticeProcess()
        let daemon = try harness(practice)
        try daemon.write("example.sh", "set -e\nPATH=\(BuiltPrograms.folder):$PATH\n" + Self.block("sh submit"))
        let result = try ChildProcess(
            "/bin/sh", [daemon.folder.path("example.sh")], environment: ["KLEOS_SOCKET": daemon.socketPath],
            errorFile: daemon.folder.path("err")
        ).finish()
        #expect(result.isSuccess, "\(result.errors)")
        try withExtendedLifetime(practice) { try expectDelivered(daemon) }
    }

    @Test("Python", .enabled(if: access("/usr/bin/python3", X_OK) == 0, "python3 is not installed"))
    func python() throws {
        let practice = try PracticeProcess()
        let daemon = try harness(practice)
        try daemon.write("example.py", Self.block("python submit"))
        let result = try ChildProcess(
            "/usr/bin/python3", [daemon.folder.path("example.py")], environment: ["KLEOS_SOCKET": daemon.socketPath],
            errorFile: daemon.folder.path("err")
        ).finish()
        #expect(result.isSuccess, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count == 2)
        try withExtendedLifetime(practice) { try expectDelivered(daemon) }
    }

    @Test("Swift")
    func swift() throws {
        // The lines between the marks are the README's, but for the socket, which the README leaves to the environment.
        let source = try SmallFile.readText(at: #filePath)
        let marked = try #require(source.split(separator: "// begin README\n").dropFirst().first)
        let lines = try #require(marked.split(separator: "        // end README").first)
            .split(separator: "\n").map { $0.hasPrefix("        ") ? $0.dropFirst(8) : $0 }.joined(separator: "\n")
        let here = lines.replacing(", socketPath: path)", with: ")") + "\n"
        #expect(here == (try Self.block("swift submit")))

        let practice = try PracticeProcess()
        let daemon = try harness(practice)
        let path = daemon.socketPath
        // begin README
        let kleos = KleosClient(game: "mygame", player: "mira", socketPath: path)
        kleos.submitScore(73_250, leaderboard: "speedrun") { result in
            switch result {
            case .success(let receipt): print("safe as \(receipt.id)")
            case .failure(let error): print("refused: \(error)")
            }
        }
        kleos.submitAchievement("first-blood")
        kleos.onNotice { notice in print(notice.title) }
        _ = kleos.waitUntilIdle(timeoutMilliseconds: 5_000)
        // end README
        try withExtendedLifetime(practice) { try expectDelivered(daemon) }
    }
}
