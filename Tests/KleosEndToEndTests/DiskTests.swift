import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What the daemon says and does when the disk is full; each test has a small one of its own.
@Suite("A full disk", .enabled(if: SmallDisk.isAllowed, "mounting a small file system needs root"))
struct FullDiskTests {
    /// A sample game whose queue is on `disk`; nothing is delivered until the endpoint is resumed.
    private func scenario(on disk: SmallDisk, storage: String) throws -> Scenario {
        let scenario = try Scenario()
        try scenario.daemon.write("kleosd.conf", "[Storage]\n\(storage)")
        try scenario.daemon.start(["--state", disk.path])
        try scenario.kleos("pause", "home")
        return scenario
    }

    /// Lines of `kleos submit -`: scores of as many players, whose ids are the players' names.
    private func lines(_ players: Range<Int>) -> String {
        players.map { number in
            #"{"kind":"score","game":"minesweeper","leaderboard":"beginner","value":\#(1_000 + number),"#
                + #""player":"p\#(number)","id":"p\#(number)","metadata":{"note":"\#(String(repeating: "x", count: 1_200))"}}"#
                + "\n"
        }.joined()
    }

    @Test("Below the floor new events are refused, status says so, and freed room opens the queue again")
    func floor() throws {
        let disk = try SmallDisk(kibibytes: 8_192)
        let scenario = try scenario(on: disk, storage: "KeepFree=2M\nReserve=0\n")
        try scenario.daemonSubmit(player: "mira", value: 41_000)
        try disk.fill(leavingKibibytes: 1_024)
        let refused = try scenario.daemon.kleos([
            "submit", "score", "minesweeper", "beginner", "40000", "--player", "mira",
        ])
        #expect(refused.ending == .exited(75))
        #expect(refused.errors.contains("queue-full"))
        #expect(refused.errors.contains("that KeepFree= keeps free"))
        #expect(try scenario.kleos("status").contains("New events are refused (queue-full)"))
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 1)
        disk.empty()
        try scenario.daemonSubmit(player: "mira", value: 40_000)
        #expect(try !scenario.kleos("status").contains("queue-full"))
    }

    @Test("What no byte is left for is refused, and taken under the same id once there is room")
    func accepting() throws {
        let disk = try SmallDisk(kibibytes: 4_096)
        let scenario = try scenario(on: disk, storage: "KeepFree=0\nReserve=0\n")
        let first = try scenario.daemon.kleos(["submit", "-"], input: lines(0..<4_000))
        #expect(first.ending == .exited(65))
        #expect(first.errors.contains("queue-full"))
        let accepted = try scenario.rows("list", "--state", "ready", "--all").count
        #expect(accepted > 100)
        #expect(first.output.contains("\(accepted) events accepted, \(4_000 - accepted) refused"))
        #expect(try scenario.daemon.log.contains("the disk is full; new events are refused, deliveries go on"))

        scenario.daemon.kill()
        try disk.resize(kibibytes: 65_536)
        try scenario.daemon.start(["--state", disk.path])
        #expect(try scenario.rows("list", "--state", "ready", "--all").count == accepted)
        let again = try scenario.daemon.kleos(["submit", "-"], input: lines(0..<4_000))
        #expect(again.isSuccess)
        #expect(try scenario.rows("list", "--state", "ready", "--all").count == 4_000)
    }

    @Test("On a full disk deliveries are still settled, thanks to the reserve")
    func delivering() throws {
        let disk = try SmallDisk(kibibytes: 24_576)
        let scenario = try scenario(on: disk, storage: "KeepFree=0\nReserve=4M\n")
        try scenario.kleos("submit", "-", input: lines(0..<1_000))
        try disk.fill()
        try scenario.kleos("resume", "home")
        try scenario.drain()
        #expect(try scenario.counts()["effects"]?.int64Value == 1_000)
        #expect(try scenario.counts()["mostEffectsOfOneKey"]?.int64Value == 1)
        #expect(try scenario.rows("list", "--state", "delivered", "--all").count == 1_000)
        #expect(try scenario.daemon.log.contains("reserve=released"))
        disk.empty()
        try scenario.daemonSubmit(player: "mira", value: 40_000)
    }

    @Test("A new queue that has no room is told with what to do, and made once there is room")
    func migrating() throws {
        let disk = try SmallDisk(kibibytes: 1_024)
        let daemon = try DaemonHarness(files: [:])
        for kibibytes in [0, 8, 64] {
            try disk.fill(leavingKibibytes: kibibytes)
            let result = try daemon.runDaemon(["--state", disk.path])
            #expect(result.ending == .exited(74), "\(kibibytes) KiB left: \(result.errors)")
            #expect(result.errors.contains("free some disk space"))
            disk.empty()
        }
        try daemon.start(["--state", disk.path])
        #expect(try daemon.kleos(["status"]).isSuccess)
        #expect(try !Folder.names(in: disk.path).contains { $0.contains("damaged") })
    }
}

/// What the daemon says and does when it may not write.
@Suite("A disk that cannot be written", .enabled(if: SmallDisk.isAllowed, "mounting a small file system needs root"))
struct ReadOnlyDiskTests {
    @Test("A read-only file system is named, and nothing on it is touched")
    func fileSystem() throws {
        let disk = try SmallDisk(kibibytes: 4_096)
        let daemon = try DaemonHarness(files: [:])
        try daemon.start(["--state", disk.path])
        daemon.stop()
        try disk.setReadOnly(true)
        let result = try daemon.runDaemon(["--state", disk.path])
        #expect(result.ending == .exited(77))
        #expect(result.errors.contains("Read-only file system"))
        #expect(result.errors.contains(disk.path))
        try disk.setReadOnly(false)
        try daemon.start(["--state", disk.path])
        #expect(try daemon.kleos(["status"]).isSuccess)
    }

    @Test("A database that may not be written is named, and nothing is set aside")
    func file() throws {
        let disk = try SmallDisk(kibibytes: 4_096)
        let daemon = try DaemonHarness(files: [:])
        try daemon.start(["--state", disk.path])
        daemon.stop()
        let path = "\(disk.path)/outbox.db"
        try #require(mount(path, path, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let readOnly = UInt(MS_REMOUNT | MS_BIND | MS_RDONLY)
        try #require(mount(nil, path, nil, readOnly, nil) == 0)
        let result = try daemon.runDaemon(["--state", disk.path])
        #expect(result.ending == .exited(77), "\(result.errors)")
        #expect(result.errors.contains("outbox.db"))
        #expect(result.errors.contains("may write"))
        #expect(try !Folder.names(in: disk.path).contains { $0.contains("damaged") })
    }
}
