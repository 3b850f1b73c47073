import Glibc
import KleosClient
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What docs/clients.md prints works as it is printed, with a daemon and without.
@Suite("Examples of docs/clients.md")
struct ClientsDocumentTests {
    /// The text of the fenced block of `file` that begins with the words `header`.
    private static func block(_ header: String, of file: String = "docs/clients.md") throws -> String {
        let text = try SmallFile.readText(at: Scenario.repositoryPath(file))
        let parts = text.split(separator: "```\(header)\n", maxSplits: 1)
        try #require(parts.count == 2, "\(file) has no block \(header)")
        return try #require(parts[1].split(separator: "\n```", maxSplits: 1).first.map { $0 + "\n" }).description
    }

    /// A daemon with the README's game and endpoint.
    private func harness(_ practice: PracticeProcess) throws -> DaemonHarness {
        let endpoint = try Self.block("ini endpoint", of: "README.md").replacing(
            "http://127.0.0.1:8484", with: practice.url)
        let daemon = try DaemonHarness(files: [
            "games.d/mygame.conf": try Self.block("ini game", of: "README.md"), "endpoints.d/home.conf": endpoint,
        ])
        try daemon.start()
        return daemon
    }

    private func run(_ program: String, _ script: String, _ daemon: DaemonHarness) throws -> ChildProcess.Result {
        try daemon.write("example", script)
        let errorFile = daemon.folder.path("example.err")
        unlink(errorFile)
        return try ChildProcess(
            program, [daemon.folder.path("example")],
            environment: [
                "KLEOS_SOCKET": daemon.socketPath, "KLEOS_SPOOL": daemon.folder.path("spool"),
                "PATH": "\(BuiltPrograms.folder):/usr/bin:/bin",
            ], errorFile: errorFile
        ).finish()
    }

    /// The delivered events by what they are about, once nothing is on its way.
    private func delivered(_ count: Int, _ daemon: DaemonHarness) throws -> [String] {
        var items: [String] = []
        let areDelivered = try Patience.until {
            let result = try daemon.kleos(["list", "--state", "delivered", "--json"])
            items = try result.output.split(separator: "\n").map { line in
                let row = try JSONParser.parse(Array(line.utf8))
                return row["leaderboard"]?.stringValue ?? row["achievement"]?.stringValue ?? ""
            }
            return items.count >= count
        }
        let log = try daemon.log
        try #require(areDelivered, "\(items) \(log)")
        return items.sorted()
    }

    @Test("Shell, with a daemon and without")
    func shell() throws {
        let practice = try PracticeProcess()
        let daemon = try harness(practice)
        let script = try "set -e\n" + Self.block("sh clients")
        let result = try run("/bin/sh", script, daemon)
        #expect(result.isSuccess, "\(result.errors)")
        let words = result.output.split(separator: "\n").map {
            $0.split(separator: " ").dropLast().joined(separator: " ")
        }
        #expect(words.prefix(3) == ["accepted", "accepted before", "accepted"], "\(result.output)")
        #expect(try delivered(2, daemon) == ["first-blood", "speedrun"])
        daemon.stop()
        let lines = script.split(separator: "\n").filter { $0.contains("first-blood") }.joined(separator: "\n")
        let spooled = try run("/bin/sh", lines, daemon)
        #expect(spooled.isSuccess && spooled.output.hasPrefix("spooled "), "\(spooled.output)\(spooled.errors)")
        try withExtendedLifetime(practice) {
            try daemon.start()
            #expect(try delivered(3, daemon) == ["first-blood", "first-blood", "speedrun"])
        }
    }

    @Test("A script that spools by itself")
    func spool() throws {
        let practice = try PracticeProcess()
        let daemon = try harness(practice)
        daemon.stop()
        let result = try run("/bin/sh", "set -e\n" + Self.block("sh spool"), daemon)
        #expect(result.isSuccess, "\(result.errors)")
        try withExtendedLifetime(practice) {
            try daemon.start()
            #expect(try delivered(1, daemon) == ["first-blood"])
        }
        #expect(try daemon.kleos(["status"]).output.contains("Spool") == false)
    }

    @Test(
        "Python, with a daemon and without",
        .enabled(if: access("/usr/bin/python3", X_OK) == 0, "python3 is not installed"))
    func python() throws {
        let practice = try PracticeProcess()
        let daemon = try harness(practice)
        let script = try Self.block("python clients")
        let result = try run("/usr/bin/python3", script, daemon)
        #expect(result.isSuccess, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.prefix(2) == ["accepted", "accepted"], "\(result.output)")
        #expect(lines.last?.hasSuffix("standings") == true, "\(result.output)")
        #expect(try delivered(2, daemon) == ["first-blood", "speedrun"])
        daemon.stop()
        let spooled = try run("/usr/bin/python3", script, daemon)
        #expect(spooled.isSuccess, "\(spooled.errors)")
        #expect(spooled.output.hasPrefix("spooled\nspooled\nlater: no kleos daemon answers\n"), "\(spooled.output)")
        try withExtendedLifetime(practice) {
            try daemon.start()
            #expect(try delivered(4, daemon).count == 4)
        }
    }

    @Test("Swift")
    func swift() throws {
        // The lines between the marks are the document's, but for the socket, which it leaves to the environment.
        let source = try SmallFile.readText(at: #filePath)
        let marked = try #require(source.split(separator: "// begin document\n").dropFirst().first)
        let lines = try #require(marked.split(separator: "        // end document").first)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("        ") ? $0.dropFirst(8) : $0 }.joined(separator: "\n")
        #expect(lines.replacing(", socketPath: path)", with: ")") == (try Self.block("swift clients")))

        let practice = try PracticeProcess()
        let daemon = try harness(practice)
        let path = daemon.socketPath
        // begin document
        // Made once, at the start of the game; nothing here ever waits for a socket or a disk.
        let kleos = KleosClient(game: "mygame", player: "mira", socketPath: path)

        kleos.connect { result in
            if case .success(let daemon) = result { print("kleosd", daemon.version) }
        }

        // In front of the player, so that notices come here and not to the desktop.
        kleos.setForeground(true)
        kleos.onNotice { notice in print(notice.title) }
        // Whoever clicks on a notice wants to see what it was about.
        kleos.onOpen { request in print("show", request.notice.title) }
        kleos.onDelivery { step in
            if step.state == .delivered { print("confirmed by", step.endpoint) }
        }

        // The completion keeps what belongs to the event; it is called on the client's own queue.
        let level = 3
        kleos.submitScore(73_250, leaderboard: "speedrun", metadata: #"{"level":\#(level)}"#) { result in
            switch result {
            case .success(let receipt):
                switch receipt.state {
                case .accepted, .superseded: print("level", level, "is safe as", receipt.key ?? receipt.id)
                case .spooled: print("level", level, "is safe on disk until the daemon runs")
                }
            case .failure(let error): print("level", level, "was refused:", error)
            }
        }
        kleos.submitAchievement("first-blood")

        // Ask before awarding something that the player may have already.
        kleos.standing(achievement: "first-blood") { result in
            if case .success(let standings) = result { print(standings.count, "standings") }
        }

        // At the end of the game: let what is under way be answered for a second, then spool the rest.
        kleos.close(draining: 1_000) { isEverythingSafe in
            print(isEverythingSafe ? "all is on disk" : "something is lost with this process")
        }
        // end document
        #expect(kleos.waitUntilIdle(timeoutMilliseconds: 600_000))
        #expect(try delivered(2, daemon) == ["first-blood", "speedrun"])
        withExtendedLifetime(practice) {}
    }
}
