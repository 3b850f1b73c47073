import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// Backups are made while the daemon works, open by themselves, and can be put back.
@Suite("Backup and restore")
struct BackupTests {
    /// Makes a backup and returns its path.
    private func backUp(_ scenario: Scenario) throws -> String {
        let answer = try JSONParser.parse(Array(scenario.kleos("backup", "--json").utf8))
        return try #require(answer["path"]?.stringValue)
    }

    private func submit(_ scenario: Scenario, _ players: Range<Int>) throws {
        let lines = players.map {
            #"{"kind":"score","game":"minesweeper","leaderboard":"beginner","value":\#(1_000 + $0),"player":"p\#($0)","id":"p\#($0)"}"#
        }
        try scenario.kleos("submit", "-", input: lines.joined(separator: "\n") + "\n")
    }

    @Test("A backup under load is whole, alone in its folder, readable for the daemon only, and the old ones go")
    func underLoad() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try submit(scenario, 0..<3_000)
        var paths: [String] = []
        for round in 1...4 {
            let lines = (round * 10_000..<round * 10_000 + 500).map {
                #"{"kind":"score","game":"minesweeper","leaderboard":"beginner","value":7,"player":"q\#($0)","id":"q\#($0)"}"#
            }
            try scenario.daemon.write("input", lines.joined(separator: "\n") + "\n")
            let submitting = try ChildProcess(
                BuiltPrograms.path("kleos"), ["submit", "-"], environment: ["KLEOS_SOCKET": scenario.daemon.socketPath],
                errorFile: scenario.daemon.folder.path("submit.err"), input: scenario.daemon.folder.path("input"))
            paths.append(try backUp(scenario))
            #expect(try submitting.finish().isSuccess)
        }
        #expect(try scenario.rows("list", "--all").count == 5_000)
        let folder = scenario.daemon.folder.path("backups")
        #expect(try Folder.names(in: folder).map { "\(folder)/\($0)" } == Array(paths.suffix(3)))
        for path in paths.suffix(3) {
            var information = stat()
            #expect(stat(path, &information) == 0)
            #expect(information.st_mode & 0o777 == 0o600)
            // Bytes 18 and 19 of a database that needs no log.
            #expect(try Array(SmallFile.read(at: path, limitBytes: 64 << 20)[18...19]) == [1, 1])
        }
        #expect(try scenario.kleos("backup").contains("checked and whole\n1 older backup removed"))
    }

    @Test("A restored backup sends the rest under the same keys, and what was there before is kept")
    func restores() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try submit(scenario, 0..<20)
        let path = try backUp(scenario)
        let running = try scenario.daemon.runDaemon(["--restore", path])
        #expect(running.ending == .exited(69))
        #expect(running.errors.contains("a kleosd is using it; stop that first"))
        try scenario.kleos("resume", "home")
        try scenario.drain()
        scenario.daemon.stop()

        let result = try scenario.daemon.runDaemon(["--restore", path])
        #expect(result.isSuccess, "\(result.errors)")
        #expect(result.output.contains("What was there before is whole at "))
        let names = try Folder.names(in: scenario.daemon.folder.path)
        #expect(names.filter { $0.contains("outbox.db.replaced-") && !$0.hasSuffix("-wal") }.count == 1)
        #expect(!names.contains { $0.contains("restoring") })
        try scenario.daemon.start()
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.rows("list", "--state", "delivered", "--all").count == 20)
        #expect(try scenario.counts()["effects"]?.int64Value == 20)
        #expect(try scenario.counts()["mostEffectsOfOneKey"]?.int64Value == 1)
    }

    @Test("Where a second send counts twice, what a backup has under way is held until it is released")
    func holdsWhatAccumulates() throws {
        let scenario = try Scenario(endpoint: "Resend=accumulates\n[Retry]\nBase=250ms\nCap=500ms\n")
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try scenario.daemonSubmit(player: "mira", value: 40_000)
        let path = try backUp(scenario)
        try scenario.kleos("resume", "home")
        try scenario.drain()
        scenario.daemon.stop()
        #expect(try scenario.daemon.runDaemon(["--restore", path]).isSuccess)
        try scenario.daemon.start()
        try scenario.kleos("resume", "home")
        let held = try scenario.rows("list", "--state", "held")
        #expect(held.map { $0["reason"]?.stringValue } == ["restored"])
        #expect(try scenario.daemon.log.contains("is held until it is released held=1"))
        #expect(try scenario.counts()["effects"]?.int64Value == 1)
        scenario.daemon.stop()
        try scenario.daemon.start()
        try scenario.kleos("release", "--all")
        try scenario.drain()
        #expect(try scenario.rows("list", "--state", "delivered").count == 1)
    }

    @Test("A file that is no whole backup changes nothing")
    func refuses() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try submit(scenario, 0..<500)
        let path = try backUp(scenario)
        scenario.daemon.stop()
        let before = try SmallFile.read(at: scenario.daemon.folder.path("outbox.db"), limitBytes: 64 << 20)
        let whole = try SmallFile.read(at: path, limitBytes: 64 << 20)
        func refusal(_ change: (inout [UInt8]) -> Void) throws -> ChildProcess.Result {
            var bytes = whole
            change(&bytes)
            let bad = scenario.daemon.folder.path("bad.db")
            try SmallFile.replace(bad, with: bytes)
            return try scenario.daemon.runDaemon(["--restore", bad])
        }
        let newer = try refusal { $0[63] = 99 }
        #expect(newer.ending == .exited(74))
        #expect(newer.errors.contains("its schema has version 99"))
        #expect(try refusal { $0[70] = 1 }.errors.contains("it belongs to another program"))
        #expect(try refusal { $0 = Array("no database".utf8) }.errors.contains("it is not a database"))
        #expect(
            try refusal { $0.replaceSubrange(40_960..<49_152, with: repeatElement(7, count: 8_192)) }.ending
                == .exited(74))
        #expect(try scenario.daemon.runDaemon(["--restore", "/nonexistent"]).errors.contains("/nonexistent"))
        #expect(try SmallFile.read(at: scenario.daemon.folder.path("outbox.db"), limitBytes: 64 << 20) == before)
        #expect(try !Folder.names(in: scenario.daemon.folder.path).contains { $0.contains("replaced") })
        try scenario.daemon.start()
        #expect(try scenario.rows("list", "--all").count == 500)
    }

    @Test(
        "Without room for a backup it is refused with how much there would have to be",
        .enabled(if: SmallDisk.isAllowed))
    func withoutRoom() throws {
        let disk = try SmallDisk(kibibytes: 8_192)
        let scenario = try Scenario()
        try scenario.daemon.write("kleosd.conf", "[Storage]\nKeepFree=1M\nReserve=0\n")
        try scenario.daemon.start(["--state", disk.path])
        try disk.fill(leavingKibibytes: 1_040)
        let result = try scenario.daemon.kleos(["backup"])
        #expect(result.ending == .exited(75))
        #expect(result.errors.contains("above the floor of 1048576"))
        #expect(try scenario.kleos("status").contains("Queue:"))
        disk.empty()
        try scenario.kleos("backup")
    }

    /// The text of a fenced block of docs/recovery.md.
    private func block(_ name: String) throws -> String {
        let text = try SmallFile.readText(at: Scenario.repositoryPath("docs/recovery.md"))
        let parts = text.split(separator: "```sh \(name)\n", maxSplits: 1)
        try #require(parts.count == 2, "docs/recovery.md has no block \(name)")
        return try #require(parts[1].split(separator: "\n```", maxSplits: 1).first.map(String.init))
    }

    private func shell(_ scenario: Scenario, _ block: String, file: String = "", name: String = "") throws -> String {
        let folder = scenario.daemon.folder
        let result = try ChildProcess(
            "/bin/sh", ["-ec", "PATH=\(BuiltPrograms.folder):$PATH; \(try self.block(block))"],
            environment: [
                "KLEOS_SOCKET": scenario.daemon.socketPath, "FOLDER": folder.path, "FILE": file, "NAME": name,
            ],
            errorFile: folder.path("shell.err")
        ).finish()
        try #require(result.isSuccess, "\(block): \(result.errors)")
        return result.output
    }

    @Test("The commands of docs/recovery.md work as they are printed")
    func document() throws {
        let scenario = try Scenario(endpoint: "Resend=accumulates\n[Retry]\nBase=250ms\nCap=500ms\n")
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try scenario.daemonSubmit(player: "mira", value: 40_000)
        let printed = try shell(scenario, "backup")
        scenario.daemon.stop()
        _ = try shell(scenario, "restore", file: String(try #require(printed.split(separator: ",").first)))
        try scenario.daemon.start()
        let replaced = try shell(scenario, "list").split(separator: "\n").map(String.init)
        try #require(replaced.count == 1)
        #expect(try shell(scenario, "salvage", name: replaced[0]).hasPrefix("0 events brought over, 1 already there"))
        #expect(try shell(scenario, "release").contains("1 delivery"))
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 1)
    }
}
