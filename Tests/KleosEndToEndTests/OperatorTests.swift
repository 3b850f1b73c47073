import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What an operator does with a whole queue: erase a player, say whose a clone is, move it elsewhere.
@Suite("Operators", .timeLimit(.minutes(30)))
struct OperatorTests {
    // MARK: Forget

    @Test("A player is erased from the files, with a count, and others stay")
    func forget() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        let name = "Ada Unmistakable Lovelace"
        try scenario.daemonSubmit(player: name, value: 9_000)
        try scenario.daemonSubmit(player: "bob", value: 8_000)
        try scenario.drain()
        try scenario.kleos("pause", "home")
        try scenario.daemonSubmit(player: name, value: 7_000)
        try scenario.kleos("backup")
        let refused = try scenario.daemon.kleos(["forget", name])
        #expect(refused.ending == .exited(64))
        #expect(refused.errors.contains("add --yes"))
        let text = try scenario.kleos("forget", name, "--yes")
        #expect(text.contains("2 events, 1 notice, 1 standing and 0 sign-ins erased"), "\(text)")
        #expect(text.contains("These copies are as they were"))
        #expect(text.contains("/backups/outbox-2"))
        #expect(try scenario.kleos("list").contains("bob"))
        #expect(!(try scenario.kleos("list").contains("Lovelace")))
        #expect(try scenario.kleos("status").contains("2 events erased by kleos forget so far"))
        for file in ["outbox.db", "outbox.db-wal"] {
            let bytes = try SmallFile.read(at: scenario.daemon.folder.path(file), limitBytes: 64 << 20)
            #expect(!bytes.contains(Array("Lovelace".utf8)), "\(file) has the player's name")
        }
        #expect(!(try scenario.daemon.log.contains("Lovelace")))
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 2)
        #expect(try scenario.kleos("forget", "nobody", "--yes").hasPrefix("0 events"))
    }

    @Test("What waits in the spool or was rejected there goes with the rest, and the files of others stay")
    func forgetSpooled() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        let name = "Ada Unmistakable Lovelace"
        let spool = scenario.daemon.folder.path("spool")
        func put(_ file: String, _ text: String) throws {
            try SmallFile.replace("\(spool)/.\(file)", with: Array(text.utf8), mode: 0o640)
            try #require(rename("\(spool)/.\(file)", "\(spool)/\(file)") == 0)
        }
        func event(_ player: String, game: String) -> String {
            "{\"kind\":\"score\",\"game\":\"\(game)\",\"leaderboard\":\"beginner\",\"value\":500,"
                + "\"player\":\"\(player)\",\"id\":\"\(player)\"}\n"
        }
        try put("1.json", event(name, game: "nogame"))
        try put("2.json", event("bob", game: "nogame"))
        try put("3.json", event("bob", game: "nogame") + event(name, game: "minesweeper"))
        try put("4.json", "{\"player\":\"\(name)\"")
        #expect(try Patience.until { try scenario.kleos("status").contains("4.json") })
        // What is put there while the daemon is away waits until it is back, and is in the queue or the spool by then.
        scenario.daemon.stop()
        try put("5.json", event(name, game: "minesweeper"))
        try put("6.json", event("bob", game: "minesweeper"))
        try scenario.daemon.start()
        let text = try scenario.kleos("forget", name, "--yes")
        #expect(text.hasPrefix("3 events, "), "\(text)")
        #expect(text.contains("of them waited in the spool, or had been rejected there"), "\(text)")
        #expect(text.contains("Look at these files of the spool yourself"))
        #expect(text.contains("\(spool)/rejected/4.json~"))
        #expect(try scenario.kleos("status").contains("3 events erased by kleos forget so far"))
        let left = try Folder.names(in: "\(spool)/rejected").filter { !$0.hasSuffix(".error") }
        #expect(left.map { $0.prefix(2) } == ["2.", "3.", "4."])
        for file in left.prefix(2) {
            let text = try SmallFile.readText(at: "\(spool)/rejected/\(file)")
            #expect(text == event("bob", game: "nogame"))
        }
        try scenario.drain()
        #expect(try scenario.rows("list").map { $0["player"]?.stringValue } == ["bob"])
    }

    @Test("What is in flight is waited for, and goes as well")
    func forgetInFlight() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.setFaults("--latency", "1500")
        try scenario.daemonSubmit(player: "ada", value: 9_000)
        let isSent = try Patience.until {
            try scenario.counts()["requests"]?.int64Value ?? 0 > 0
        }
        #expect(isSent)
        #expect(try scenario.kleos("forget", "ada", "--yes").hasPrefix("1 event,"))
        #expect(try scenario.rows("list").isEmpty)
        #expect(try scenario.rows("notices").isEmpty)
    }

    @Test(
        "An ordinary user may not erase, adopt, reset, export or import",
        .enabled(if: OrdinaryUser.isRoot, OrdinaryUser.whySkipped))
    func permission() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        chmod(scenario.daemon.folder.path, 0o755)
        chmod(scenario.daemon.controlPath, 0o666)
        for words in [["forget", "ada", "--yes"], ["adopt"], ["reset", "--yes"], ["export"]] {
            let result = try OrdinaryUser.ada.kleos(words, daemon: scenario.daemon)
            #expect(result.ending == .exited(77), "\(words): \(result.output)\(result.errors)")
            #expect(result.errors.contains("not-permitted"))
        }
    }

    @Test(
        "An operator sees everybody's events, and everyone else their own",
        .enabled(if: OrdinaryUser.isRoot, OrdinaryUser.whySkipped))
    func reading() throws {
        let scenario = try Scenario(game: "AllowUsers=*\n")
        try scenario.daemon.start()
        chmod(scenario.daemon.folder.path, 0o755)
        let ada = try OrdinaryUser.ada.kleos(
            ["submit", "score", "minesweeper", "beginner", "9000", "--player", "ada", "--json"],
            daemon: scenario.daemon)
        let key = try #require(JSONParser.parse(Array(ada.output.utf8))["key"]?.stringValue, "\(ada.errors)")
        try scenario.daemonSubmit(player: "bob", value: 8_000)
        try scenario.drain()
        #expect(try Set(scenario.rows("list").map { $0["player"]?.stringValue }) == ["ada", "bob"])
        #expect(try scenario.kleos("show", String(key.suffix(8))).contains("ada"))
        let own = try scenario.kleos("list", "--socket", scenario.daemon.socketPath)
        #expect(own.contains("bob") && !own.contains("ada"), "\(own)")
        let hers = try OrdinaryUser.ada.kleos(["list"], daemon: scenario.daemon)
        #expect(hers.output.contains("ada") && !hers.output.contains("bob"), "\(hers.output)\(hers.errors)")
        // On a control socket that lets her in, she is still no operator.
        chmod(scenario.daemon.controlPath, 0o666)
        let still = try OrdinaryUser.ada.kleos(["list"], daemon: scenario.daemon)
        #expect(still.output.contains("ada") && !still.output.contains("bob"), "\(still.output)\(still.errors)")
    }

    // MARK: Clones

    /// Starts the daemon on a machine with another id.
    private func startClone(_ daemon: DaemonHarness) throws {
        try daemon.write("machine-id", "0123456789abcdef0123456789abcdef\n")
        try daemon.start(through: [
            "/usr/bin/unshare", "-m", "/bin/sh", "-c",
            "mount --bind \"$1\" /etc/machine-id && shift && exec \"$@\"", "world", daemon.folder.path("machine-id"),
        ])
    }

    private static let mayMount = SmallDisk.isAllowed && access("/etc/machine-id", R_OK) == 0

    @Test(
        "A clone sends nothing until it is adopted, and status says what it is",
        .enabled(if: mayMount, "needs to mount a file, and a machine-id"))
    func adopt() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try scenario.daemonSubmit(player: "ada", value: 9_000)
        scenario.daemon.stop()
        try startClone(scenario.daemon)
        try scenario.kleos("resume", "home")
        let text = try scenario.kleos("status")
        #expect(text.contains("The queue came from another machine: its machine-id differs"))
        #expect(text.contains("kleos adopt"))
        #expect(text.contains("kleos reset"))
        #expect(try scenario.daemon.kleos(["status", "--check"]).ending == .exited(2))
        #expect(try scenario.kleos("adopt") == "the queue is this machine's; 1 delivery goes on\n")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 1)
        #expect(try scenario.daemon.kleos(["status", "--check"]).isSuccess)
    }

    @Test(
        "A clone that is reset sends its own events, and none of the other machine's",
        .enabled(if: mayMount, "needs to mount a file, and a machine-id"))
    func reset() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try scenario.daemonSubmit(player: "ada", value: 9_000)
        scenario.daemon.stop()
        try startClone(scenario.daemon)
        try scenario.daemonSubmit(player: "bob", value: 8_000)
        try scenario.kleos("resume", "home")
        #expect(try scenario.daemon.kleos(["reset"]).ending == .exited(64))
        #expect(try scenario.kleos("reset", "--yes").contains("1 delivery of the other one discarded"))
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 1)
        #expect(try scenario.rows("list", "--state", "delivered").map { $0["player"]?.stringValue } == ["bob"])
        #expect(try scenario.rows("list", "--state", "discarded").map { $0["player"]?.stringValue } == ["ada"])
    }

    // MARK: Waiting for a part

    /// Ada's event is delivered; those of Bob and Eve wait, because the endpoint is paused.
    private func oneDeliveredAndTwoWaiting() throws -> Scenario {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.daemonSubmit(player: "ada", value: 9_000)
        try scenario.drain()
        try scenario.kleos("pause", "home")
        for player in ["bob", "eve"] { try scenario.daemonSubmit(player: player, value: 8_000) }
        return scenario
    }

    @Test("Waiting for one player or game does not wait for the others")
    func waitsForAPart() throws {
        let scenario = try oneDeliveredAndTwoWaiting()
        let wait = ["watch", "--until-empty", "--timeout"]
        for (part, count) in [(["--game", "minesweeper"], 2), (["--player", "bob"], 1), ([], 2)] {
            let late = try scenario.daemon.kleos(wait + ["1"] + part)
            #expect(late.ending == .exited(75))
            let text = count == 1 ? "1 delivery is still on its way" : "2 deliveries are still on their way"
            #expect(late.errors.contains(text), "\(part): \(late.errors)")
        }
        for (part, words) in [(["--player", "ada"], "ada"), (["--game", "other", "--player", "bob"], "bob in other")] {
            let done = try scenario.daemon.kleos(wait + ["600"] + part)
            #expect(done.isSuccess && done.output == "nothing of \(words) is on its way\n", "\(done.output)")
        }
    }

    // MARK: Moving a queue

    @Test("A moved queue goes on at the other machine, once, with its history")
    func moves() throws {
        let scenario = try oneDeliveredAndTwoWaiting()
        let file = scenario.daemon.folder.path("queue.ndjson")
        #expect(try scenario.kleos("export", "--hold", file) == "3 events exported, and held here from now on\n")
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try scenario.kleos("resume", "home")
        #expect(try scenario.kleos("list", "--state", "held").contains("2 deliveries"))

        let other = try DaemonHarness(files: [
            "endpoints.d/home.conf": "[Endpoint]\nURL=\(scenario.home.url)\n",
            "games.d/minesweeper.conf": try Scenario.sampleGame,
        ])
        try other.start()
        #expect(try other.kleos(["import", file]).output == "3 events brought over, 0 already there\n")
        #expect(try other.kleos(["watch", "--until-empty", "--timeout", "600", "--quiet"]).isSuccess)
        #expect(try other.kleos(["import", file]).output == "0 events brought over, 3 already there\n")
        #expect(try scenario.counts()["effects"]?.int64Value == 3)
        let delivered = try other.kleos(["list", "--state", "delivered", "--json"]).output.split(separator: "\n")
        #expect(delivered.count == 3)
        let key = try #require(try scenario.rows("list", "--player", "ada").first?["key"]?.stringValue)
        let shown = try other.kleos(["show", key])
        #expect(shown.output.contains("delivered"))
        #expect(try other.kleos(["notices"]).output.contains("Beginner"))
        #expect(try other.kleos(["standing", "minesweeper", "--player", "ada"]).output.contains("9.000"))
    }

    @Test("Standard output and input do as well, and an export that breaks off is noticed")
    func pipes() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        for value in 1...40 { try scenario.daemonSubmit(player: "p\(value)", value: value * 100) }
        let text = try scenario.kleos("export")
        let lines = text.split(separator: "\n")
        #expect(lines.count == 42)
        let broken = lines.dropLast(2).joined(separator: "\n") + "\n"
        let other = try Scenario()
        try other.daemon.start()
        let result = try other.daemon.kleos(["import"], input: broken)
        #expect(result.ending == .exited(65))
        #expect(result.output == "39 events brought over, 0 already there\n")
        #expect(result.errors.contains("the export breaks off"))
        #expect(try other.kleos("import", "-", input: text) == "1 event brought over, 39 already there\n")
        #expect(try other.daemon.kleos(["import"], input: "{\"a\":1}\n").ending == .exited(65))
        #expect(try other.daemon.kleos(["import"], input: lines[0] + "\n{\"event\":{}}\n").ending == .exited(65))
        try other.drain()
        #expect(try other.counts()["effects"]?.int64Value == 40)
    }
}
