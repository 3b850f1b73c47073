import KleosModel
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

@testable import KleosStore

/// Power cuts while a database is made, or set aside.
@Suite struct PowerCutStartTests {
    /// How often the power is cut at each step.
    static let rounds = UInt64(TestStage.size("POWER_CUT_STARTS", usual: 3, long: 20))

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(prefix: "kleos-cut") }

    func empty() throws {
        for name in try Folder.names(in: folder.path) { TemporaryFolder.remove(folder.path(name)) }
    }

    /// The database as the store opens it.
    func open(_ disk: SimulatedDisk) throws(StoreError) -> Connection {
        let naming = FileNaming(rename: { disk.rename($0, $1) }, syncFolder: { disk.syncFolder($0) })
        return try Database(
            directory: folder.path, sqliteFileSystem: disk.name, clock: ManualClock(), log: Log(sink: { _, _ in }),
            naming: naming
        ).open()
    }

    /// Opens with a cut after so many operations, and again without. Returns whether the first one got to its end.
    @discardableResult
    func openTwice(_ disk: SimulatedDisk, stopAfter operations: Int) throws -> Bool {
        disk.stop(afterOperations: operations)
        var isAnswered = false
        do throws(StoreError) {
            let connection = try open(disk)
            try connection.run(.once("INSERT INTO meta VALUES('answered', 'yes')"))
            isAnswered = true
        } catch {
            #expect(disk.isStopped, "\(error)")
        }
        disk.cutPower()
        let connection = try open(disk)
        let found = try connection.integer(.once("SELECT count(*) FROM meta WHERE name = 'answered'"))
        #expect(found == 1 || !isAnswered, "answered and lost")
        #expect(try connection.rows(.once("PRAGMA integrity_check"), []) { $0.text(0) } == ["ok"])
        return isAnswered
    }

    /// Opens with a cut at each operation, of what `prepare` leaves in the folder, and lets `check` look at what was
    /// set aside. Returns the number of cuts.
    func cutEverywhere(_ prepare: () throws -> Void, _ check: ([String], String) throws -> Void) throws -> Int {
        var cuts = 0
        for seed in 1...Self.rounds {
            var operations = 0
            var isAnswered = false
            while !isAnswered {
                try empty()
                try prepare()
                let disk = SimulatedDisk(seed: seed &* 1_000 + UInt64(operations))
                isAnswered = try openTwice(disk, stopAfter: operations)
                let aside = try Folder.names(in: folder.path).filter { $0.contains("damaged") }.sorted()
                try check(aside, "after \(operations) operations, seed \(seed): \(aside)")
                operations += 1
            }
            #expect(operations > 20)
            cuts += operations
        }
        return cuts
    }

    @Test func anOutboxIsMadeWhereverTheCutFalls() throws {
        let cuts = try cutEverywhere {
        } _: { aside, place in
            #expect(aside == [], "a new database is not a damaged one; \(place)")
        }
        TestStage.report(
            "power cuts while making an outbox", "\(cuts) cuts, one at each operation in \(Self.rounds) rounds")
    }

    @Test func aDamagedDatabaseIsSetAsideWholeWhereverTheCutFalls() throws {
        let database = Array(repeating: UInt8(ascii: "d"), count: 5_000)
        let wal = Array(repeating: UInt8(ascii: "w"), count: 3_000)
        let cuts = try cutEverywhere {
            try SmallFile.replace(folder.path("outbox.db"), with: database)
            try SmallFile.replace(folder.path("outbox.db-wal"), with: wal)
        } _: { aside, place in
            let contents = try aside.map { try SmallFile.read(at: folder.path($0)) }
            #expect(contents == [database, wal], "\(place)")
        }
        TestStage.report(
            "power cuts while setting one aside", "\(cuts) cuts, one at each operation in \(Self.rounds) rounds")
    }

    /// Only one order of names in sixteen that a cut may leave shows the mistake, so that it is looked at directly.
    @Test func whatIsBesideADatabaseHasItsNewNameOnDiskBeforeTheDatabaseHas() throws {
        for suffix in ["", "-wal"] {
            try SmallFile.replace(folder.path("outbox.db\(suffix)"), with: Array(repeating: 0x64, count: 5_000))
        }
        let steps = Mutex<[String]>([])
        let naming = FileNaming(
            rename: { from, to in
                steps.withLock { $0.append(from.hasSuffix(".db") ? "database" : "beside") }
                return FileNaming.system.rename(from, to)
            },
            syncFolder: { folder in
                steps.withLock { $0.append("sync") }
                return FileNaming.system.syncFolder(folder)
            })
        let database = Database(
            directory: folder.path, clock: ManualClock(), log: Log(sink: { _, _ in }), naming: naming)
        _ = try database.open()
        let order = steps.withLock { $0.filter { $0 != "beside" } }
        #expect(order == ["sync", "database", "sync"])
        #expect(steps.withLock { $0.first } == "beside")
    }
}
