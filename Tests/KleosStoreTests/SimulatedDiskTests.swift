import CSimulatedDisk
import Glibc
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// The disk that the tests of power cuts stand on.
@Suite struct SimulatedDiskTests {
    let folder: TemporaryFolder
    var path: String { folder.path("a.db") }

    init() throws { folder = try TemporaryFolder() }

    /// A database on `disk` with one table.
    func open(_ disk: SimulatedDisk, synchronous: String = "FULL", journal: String = "WAL") throws -> Connection {
        let connection = try Connection(path: path, fileSystem: disk.name)
        connection.keepLogOnClose()
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try connection.execute("PRAGMA journal_mode = \(journal)")
        try connection.execute("PRAGMA synchronous = \(synchronous)")
        try connection.execute("CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, text TEXT) STRICT")
        return connection
    }

    func insert(_ connection: Connection, _ number: Int) throws {
        try connection.run(
            .once("INSERT INTO t VALUES(?1, ?2)"), SQLValue(Int64(number)), SQLValue(String(repeating: "x", count: 900))
        )
    }

    func rows(_ disk: SimulatedDisk) throws -> [Int] {
        try open(disk).rows(.once("SELECT n FROM t ORDER BY n"), []) { Int($0.integer(0)) }
    }

    @Test(arguments: 1...20) func whatWasSyncedSurvives(seed: UInt64) throws {
        let disk = SimulatedDisk(seed: seed)
        let connection = try open(disk)
        for number in 0..<20 { try insert(connection, number) }
        disk.cutPower()
        #expect(try rows(disk) == Array(0..<20))
    }

    @Test func whatWasNotSyncedMayVanishOrTear() throws {
        var kept: Set<Int> = []
        let disk = SimulatedDisk(seed: 1)
        for seed in 1...60 {
            disk.reset(seed: UInt64(seed))
            TemporaryFolder.remove(path)
            TemporaryFolder.remove("\(path)-wal")
            let connection = try open(disk)
            try connection.execute("PRAGMA synchronous = OFF")
            for number in 0..<20 { try insert(connection, number) }
            disk.cutPower()
            let left = try rows(disk)
            #expect(left == Array(0..<left.count), "a log that is cut off is read up to its first hole")
            kept.insert(left.count)
        }
        #expect(kept.contains(0))
        #expect(kept.contains(20))
        #expect(kept.count > 4)
    }

    @Test func theSeedDecides() throws {
        func bytes(seed: UInt64) throws -> [UInt8] {
            let disk = SimulatedDisk(seed: seed)
            TemporaryFolder.remove(path)
            let connection = try open(disk, synchronous: "OFF", journal: "OFF")
            for number in 0..<40 { try insert(connection, number) }
            disk.cutPower()
            var information = stat()
            guard stat(path, &information) == 0 else { return [] }
            return try SmallFile.read(at: path, limitBytes: 1 << 20)
        }
        let runs = try (UInt64(20)...39).map { try bytes(seed: $0) }
        #expect(try (UInt64(20)...39).map { try bytes(seed: $0) } == runs)
        #expect(Set(runs).count > 5)
    }

    @Test func aStoppedDiskRefusesEverythingAndCrashesOnlyTheProcess() throws {
        let disk = SimulatedDisk(seed: 3)
        var connection: Connection? = try open(disk)
        try connection?.execute("PRAGMA synchronous = OFF")
        for number in 0..<5 { if let connection { try insert(connection, number) } }
        disk.stop(afterOperations: 0)
        #expect(!disk.isStopped)
        #expect(throws: StoreError.self) { if let connection { try insert(connection, 5) } }
        #expect(disk.isStopped)
        #expect(throws: StoreError.self) {
            _ = try Connection(path: path, fileSystem: disk.name).integer(.once("SELECT 1 FROM t"))
        }
        connection = nil
        disk.restart()
        #expect(try rows(disk).starts(with: 0..<5))
    }

    @Test func aSlowDiskIsSlowBeforeItSyncs() throws {
        let disk = SimulatedDisk(seed: 6)
        let connection = try open(disk)
        let before = disk.counts.syncs
        var called: Int64 = 0
        disk.onSync { called += 1 }
        for number in 0..<5 { try insert(connection, number) }
        #expect(called >= 5)
        #expect(called == disk.counts.syncs - before)
    }

    @Test func aFullDiskIsToldAsSuch() throws {
        let disk = SimulatedDisk(seed: 4)
        let connection = try open(disk)
        disk.setCapacity(bytes: 65_536)
        let error = #expect(throws: StoreError.self) {
            for number in 0..<100 { try insert(connection, number) }
        }
        #expect(error?.kind == .full)
        disk.setCapacity(bytes: nil)
        try insert(connection, 1_000)
        disk.cutPower()
        #expect(try rows(disk).last == 1_000)
    }

    @Test(arguments: [
        (SimulatedDisk.Operation.write, Int32(778)), (.sync, 1034), (.open, 14), (.read, 266),
    ])
    func whatIsMadeToFailFails(operation: SimulatedDisk.Operation, code: Int32) throws {
        let disk = SimulatedDisk(seed: 5)
        try insert(try open(disk), 1)
        disk.fail(operation)
        let error = #expect(throws: StoreError.self) { try insert(try open(disk), 2) }
        #expect(error?.code == code)
        #expect(disk.counts.failures == 1)
        try insert(try open(disk), 3)
        #expect(try rows(disk).contains(3))
    }

    @Test func aFailedSyncIsNotMadeGoodByTheNext() throws {
        var holes = 0
        for seed in 1...20 {
            let disk = SimulatedDisk(seed: UInt64(seed))
            TemporaryFolder.remove(path)
            TemporaryFolder.remove("\(path)-wal")
            try insert(try open(disk), 1)
            disk.fail(.sync)
            #expect(throws: StoreError.self) { try insert(try open(disk), 2) }
            // The log is read from the cache, where nothing is missing, and goes on behind what is.
            try insert(try open(disk), 3)
            disk.cutPower()
            let left = try rows(disk)
            #expect(left.first == 1)
            if left.count < 2 { holes += 1 }
        }
        #expect(holes > 0)
    }

    @Test func namesAreDurableWithTheirFolder() throws {
        var outcomes: Set<String> = []
        for seed in 1...40 {
            let disk = SimulatedDisk(seed: UInt64(seed))
            for name in try Folder.names(in: folder.path) { TemporaryFolder.remove(folder.path(name)) }
            for name in ["x", "y", "z"] { try SmallFile.replace(folder.path(name), with: Array(name.utf8)) }
            #expect(disk.rename(folder.path("x"), folder.path("renamed")) == 0)
            disk.syncFolder(folder.path)
            #expect(disk.rename(folder.path("y"), folder.path("renamed")) == 0)
            #expect(disk.unlink(folder.path("z")) == 0)
            #expect(disk.unlink(folder.path("z")) == -1)
            disk.cutPower()
            let names = try Folder.names(in: folder.path).sorted()
            let content = String(decoding: try SmallFile.read(at: folder.path("renamed")), as: UTF8.self)
            #expect(content == (names.contains("y") ? "x" : "y"))
            outcomes.insert(names.joined(separator: " "))
        }
        #expect(outcomes == ["renamed", "renamed y", "renamed z", "renamed y z"])
    }
}
