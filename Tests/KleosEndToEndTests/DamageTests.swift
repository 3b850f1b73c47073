import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What the daemon says and does when the files of the queue are damaged, missing, or another's.
@Suite("Damage to the queue's files")
struct DamageTests {
    /// A daemon that holds `count` scores, each of a player of its own, and was stopped or killed.
    static func filled(_ count: Int, isKilled: Bool = false) throws -> Scenario {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        let lines = (0..<count).map {
            #"{"kind":"score","game":"minesweeper","leaderboard":"beginner","value":\#(1_000 + $0),"player":"p\#($0)","id":"p\#($0)","#
                + #""metadata":{"note":"part of an event"}}"#
        }
        try scenario.kleos("submit", "-", input: lines.joined(separator: "\n") + "\n")
        if isKilled { scenario.daemon.kill() } else { scenario.daemon.stop() }
        return scenario
    }

    private func setAside(_ daemon: DaemonHarness) throws -> [String] {
        try Folder.names(in: daemon.folder.path).filter { $0.hasPrefix("outbox.db.damaged-") && !$0.hasSuffix("-wal") }
    }

    /// Overwrites part of a file of the queue.
    static func overwrite(_ path: String, at offset: Int, count: Int) throws {
        let file = try FileDescriptor.open(path, O_WRONLY)
        try #require(lseek(file.number, off_t(offset), SEEK_SET) == off_t(offset))
        try file.writeAll((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })
    }

    /// Where the pages of events begin; only they have metadata.
    static func pagesOfEvents(in path: String) throws -> [Int] {
        let bytes = try SmallFile.read(at: path, limitBytes: 64 << 20)
        return stride(from: 4_096, to: bytes.count, by: 4_096).filter { offset in
            let text = String(decoding: bytes[offset..<offset + 4_096], as: UTF8.self)
            return bytes[offset] == 13 && text.contains("part of an event")
        }
    }

    private func size(_ path: String) throws -> Int {
        var information = stat()
        try #require(stat(path, &information) == 0)
        return Int(information.st_size)
    }

    @Test("Damaged pages end the daemon with a word as soon as they are met; the next start sets the queue aside")
    func pagesInTheMiddle() throws {
        let scenario = try Self.filled(2_000)
        let path = scenario.daemon.folder.path("outbox.db")
        let pages = try Self.pagesOfEvents(in: path)
        try #require(pages.count > 20)
        for page in pages[(pages.count / 2)...].prefix(5) { try Self.overwrite(path, at: page, count: 4_096) }
        try scenario.daemon.start()
        let isListed = try scenario.daemon.kleos(["list", "--all"]).isSuccess
        #expect(!isListed)
        #expect(try scenario.daemon.waitForEnd() == .exited(74))
        #expect(try scenario.daemon.log.contains("the outbox cannot be used reliably any more"))
        #expect(try setAside(scenario.daemon).isEmpty)
        let damaged = try SmallFile.read(at: path, limitBytes: 64 << 20)

        try scenario.daemon.start()
        #expect(try scenario.daemon.log.contains("the outbox is checked whole, because it seemed to be damaged"))
        #expect(try scenario.daemon.log.contains("it was set aside whole, and a new one begins"))
        let name = try #require(try setAside(scenario.daemon).first)
        #expect(try SmallFile.read(at: scenario.daemon.folder.path(name), limitBytes: 64 << 20) == damaged)
        try scenario.daemonSubmit(player: "mira", value: 40_000)
        try scenario.drain()
        scenario.daemon.stop()
        try scenario.daemon.start()
        #expect(try setAside(scenario.daemon).count == 1)
    }

    @Test("A damaged first page is set aside at the start", arguments: [0, 100])
    func firstPage(offset: Int) throws {
        let scenario = try Self.filled(10)
        try Self.overwrite(scenario.daemon.folder.path("outbox.db"), at: offset, count: 3_000)
        try scenario.daemon.start()
        #expect(try setAside(scenario.daemon).count == 1)
        #expect(try scenario.rows("list", "--all").isEmpty)
    }

    @Test("A suspicion that does not prove true leaves the queue as it is")
    func falseAlarm() throws {
        let scenario = try Self.filled(10)
        try scenario.daemon.write("outbox.suspect", "a page could not be read")
        try scenario.daemon.start()
        #expect(try scenario.daemon.log.contains("the outbox is whole after all"))
        #expect(try scenario.rows("list", "--all").count == 10)
        #expect(try setAside(scenario.daemon).isEmpty)
        #expect(try !Folder.names(in: scenario.daemon.folder.path).contains("outbox.suspect"))
    }

    @Test("Of a log that lost its end the whole transactions are there", arguments: [1, 5_000])
    func truncatedLog(bytes: Int) throws {
        let scenario = try Self.filled(200, isKilled: true)
        let path = scenario.daemon.folder.path("outbox.db-wal")
        try #require(truncate(path, off_t(try size(path) - bytes)) == 0)
        try scenario.daemon.start()
        let count = try scenario.rows("list", "--all").count
        #expect(count < 200)
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == Int64(count))
        #expect(try setAside(scenario.daemon).isEmpty)
    }

    @Test("A log without its database is kept, not deleted")
    func orphanedLog() throws {
        let scenario = try Self.filled(10, isKilled: true)
        let folder = scenario.daemon.folder
        let log = try SmallFile.read(at: folder.path("outbox.db-wal"), limitBytes: 64 << 20)
        unlink(folder.path("outbox.db"))
        try scenario.daemon.start()
        let name = try Folder.names(in: folder.path).first { $0.contains("damaged") && $0.hasSuffix("-wal") }
        #expect(try SmallFile.read(at: folder.path(try #require(name)), limitBytes: 64 << 20) == log)
        #expect(try scenario.daemon.log.contains("the database is missing and its log is there"))
    }

    @Test("A queue that is taken away ends the daemon before it promises anything more")
    func takenAway() throws {
        let scenario = try Self.filled(10)
        let folder = scenario.daemon.folder
        try scenario.daemon.start()
        try #require(rename(folder.path("outbox.db"), folder.path("elsewhere.db")) == 0)
        let result = try scenario.daemon.kleos(["submit", "score", "minesweeper", "beginner", "1", "--player", "mira"])
        // The daemon answers nothing, and the event is in its spool.
        #expect(result.isSuccess && result.output.hasPrefix("spooled "), "\(result.output)\(result.errors)")
        #expect(try scenario.daemon.waitForEnd() == .exited(74))
        #expect(try scenario.daemon.log.contains("moved away or removed while kleosd was using it"))
        try #require(rename(folder.path("elsewhere.db"), folder.path("outbox.db")) == 0)
        for name in try Folder.names(in: folder.path("spool")) { unlink(folder.path("spool/\(name)")) }
        try scenario.daemon.start()
        #expect(try scenario.rows("list", "--all").count == 10)
    }

    @Test("A newer schema is refused with what to do, and left as it is")
    func newerSchema() throws {
        let scenario = try Self.filled(10)
        let path = scenario.daemon.folder.path("outbox.db")
        var bytes = try SmallFile.read(at: path, limitBytes: 64 << 20)
        bytes[63] = 199
        try SmallFile.replace(path, with: bytes)
        let result = try scenario.daemon.runDaemon()
        #expect(result.ending == .exited(74))
        #expect(result.errors.contains("its schema has version 199"))
        #expect(result.errors.contains("install the kleosd that wrote it"))
        #expect(try SmallFile.read(at: path, limitBytes: 64 << 20) == bytes)
    }

    @Test("Another program's database is refused and left as it is")
    func foreign() throws {
        let scenario = try Self.filled(10)
        let path = scenario.daemon.folder.path("outbox.db")
        try Self.overwrite(path, at: 68, count: 4)
        let result = try scenario.daemon.runDaemon()
        #expect(result.ending == .exited(74))
        #expect(result.errors.contains("it belongs to another program; move it away or choose another folder"))
        #expect(try setAside(scenario.daemon).isEmpty)
    }

    private func numbers(_ scenario: Scenario, _ name: String) throws -> [String: Int64] {
        let answer = try JSONParser.parse(Array(scenario.kleos("salvage", name, "--json").utf8))
        return ["brought", "known", "lost", "unreadablePages"].reduce(into: [:]) { $0[$1] = answer[$1]?.int64Value }
    }

    @Test("Salvage brings over what is readable, under the same keys, once", arguments: ["pages", "first", "log"])
    func salvages(damage: String) throws {
        // So few that all of them are in the log, whatever gathers in a transaction.
        let count: Int64 = damage == "log" ? 50 : 1_000
        let scenario = try Self.filled(Int(count), isKilled: damage == "log")
        let folder = scenario.daemon.folder
        let path = folder.path("outbox.db")
        switch damage {
        case "pages":
            let pages = try Self.pagesOfEvents(in: path)
            for page in pages[10..<13] { try Self.overwrite(path, at: page, count: 4_096) }
            try scenario.daemon.write("outbox.suspect", "a test says so")
        case "first": try Self.overwrite(path, at: 0, count: 4_096)
        default: unlink(path)
        }
        try scenario.daemon.start()
        #expect(try scenario.rows("list", "--all").isEmpty)
        let name = try scenario.kleos("salvage").split(separator: "\n").map(String.init)
        try #require(name.count == 1)
        let old = try SmallFile.read(at: folder.path(name[0] + (damage == "log" ? "-wal" : "")), limitBytes: 64 << 20)
        try scenario.kleos("pause", "home")
        let first = try numbers(scenario, name[0])
        let lost = damage == "pages" ? first["lost"] ?? 0 : 0
        #expect(damage != "pages" || (1...120).contains(lost))
        #expect(first["brought"] == count - lost)
        #expect(first["known"] == 0)
        let second = try numbers(scenario, name[0])
        #expect(second["brought"] == 0)
        #expect(second["known"] == count - lost)
        #expect(
            try SmallFile.read(at: folder.path(name[0] + (damage == "log" ? "-wal" : "")), limitBytes: 64 << 20) == old)
        #expect(try scenario.daemon.kleos(["salvage", "outbox.db.damaged-never"]).errors.contains("not-found"))
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == count - lost)
        #expect(try scenario.rows("list", "--state", "delivered", "--all").count == Int(count - lost))
    }

    @Test("What was delivered stays delivered, and where a second send counts twice nothing is sent again")
    func salvagesStates() throws {
        let scenario = try Scenario(endpoint: "Resend=accumulates\n[Retry]\nBase=250ms\nCap=500ms\n")
        try scenario.daemon.start()
        try scenario.daemonSubmit(player: "mira", value: 40_000)
        try scenario.drain()
        try scenario.kleos("pause", "home")
        try scenario.daemonSubmit(player: "ada", value: 50_000)
        scenario.daemon.stop()
        try Self.overwrite(scenario.daemon.folder.path("outbox.db"), at: 0, count: 4_096)
        try scenario.daemon.start()
        let name = try scenario.kleos("salvage").split(separator: "\n").map(String.init)
        #expect(
            try scenario.kleos("salvage", name[0]).hasPrefix("2 events brought over, 0 already there, 0 unreadable"))
        let rows = try scenario.rows("list", "--all")
        #expect(Set(rows.compactMap { $0["state"]?.stringValue }) == ["delivered", "held"])
        #expect(rows.compactMap { $0["reason"]?.stringValue } == ["restored"])
        #expect(try scenario.kleos("standing", "minesweeper", "--player", "mira").contains("40.000 s"))
        try scenario.kleos("release", "--all")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 2)
        #expect(try scenario.counts()["mostEffectsOfOneKey"]?.int64Value == 1)
    }
}
