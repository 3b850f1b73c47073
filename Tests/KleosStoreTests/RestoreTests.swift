import Dispatch
import KleosModel
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

@testable import KleosStore

@Suite struct RestoreTests {
    private let quiet = Log(sink: { _, _ in })

    @Test(arguments: ["-wal", "-journal"])
    func whatAKilledRestoreLeftIsNotMixedIn(suffix: String) throws {
        let store = try TemporaryStore(log: quiet)
        let maker = EventMaker(store.clock)
        let first = maker.score(1, board: "first")
        try store.accept(first)
        // A log and a journal of another state of the queue, as it is left where they are not removed.
        let later = try TemporaryStore(folder: try store.snapshot(), clock: store.clock, log: quiet)
        if suffix == "-journal" {
            try later.store.withOutbox { outbox throws(StoreError) in
                try outbox.database.execute("PRAGMA journal_mode = DELETE")
                try outbox.database.execute("BEGIN IMMEDIATE")
                try outbox.database.execute("PRAGMA cache_size = 1")
                try outbox.database.execute("PRAGMA cache_spill = 1")
                for number in 0..<200 {
                    try outbox.database.run(
                        .once("INSERT INTO meta VALUES(?1, ?2)"), SQLValue("n\(number)"),
                        SQLValue(String(repeating: "x", count: 2_000)))
                }
            }
        } else {
            for number in 0..<20 { try later.accept(maker.score(1, board: "b\(number)")) }
        }
        let left = try SmallFile.read(at: later.folder.path("outbox.db\(suffix)"), limitBytes: 64 << 20)
        #expect(left.count > 512)
        store.close()
        let target = try TemporaryFolder()
        try SmallFile.replace(target.path("outbox.db.restoring\(suffix)"), with: left)
        _ = try Restore.run(store.folder.path("outbox.db"), into: target.path, clock: store.clock, log: quiet)
        #expect(try Folder.names(in: target.path) == ["outbox.db"])
        let restored = try TemporaryStore(folder: target, clock: store.clock, log: quiet)
        #expect(try restored.all().map(\.key) == [first.key])
    }

    @Test func whatARestoreReplacedIsNeverOverwritten() throws {
        let source = try TemporaryStore(log: quiet)
        let maker = EventMaker(source.clock)
        try source.accept(maker.score(1))
        source.close()
        let target = try TemporaryFolder()
        for number in 0..<3 {
            let store = try TemporaryStore(folder: target, clock: source.clock, log: quiet)
            try store.accept(maker.score(1, board: "b\(number)"))
            store.close()
            let report = try Restore.run(
                source.folder.path("outbox.db"), into: target.path, clock: source.clock, log: quiet)
            #expect(report.setAside != nil)
        }
        let boards = try Salvage.names(in: target.path).flatMap { name in
            let copy = try TemporaryFolder()
            for suffix in ["", "-wal"] where SetAside.exists(target.path(name + suffix)) {
                try SmallFile.replace(
                    copy.path("outbox.db\(suffix)"),
                    with: try SmallFile.read(at: target.path(name + suffix), limitBytes: 64 << 20))
            }
            return try TemporaryStore(folder: copy, clock: source.clock, log: quiet).all().map(\.subject.item)
        }
        #expect(Set(["b0", "b1", "b2"]).isSubset(of: boards))
    }

    @Test func aBackupIsThereAlsoWhereTheClockIsBehind() throws {
        let store = try TemporaryStore(log: quiet)
        try store.accept(EventMaker(store.clock).score(1))
        var paths: [String] = []
        for _ in 0..<5 {
            store.clock.step(milliseconds: -86_400_000)
            let report = try backUp(store)
            paths.append(report.path)
            #expect(SetAside.exists(report.path))
            #expect(!report.removed.contains(report.path))
        }
        let folder = store.folder.path(Store.backupFolder)
        #expect(try Folder.names(in: folder).count == StoreOptions(machineID: "").keptBackups)
        #expect(Set(paths).count == 5)
    }

    private func backUp(_ store: TemporaryStore) throws -> BackupReport {
        let result = Mutex<Result<BackupReport, StoreError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        store.store.backUp { _, _ in
        } then: { ended in
            result.withLock { $0 = ended }
            done.signal()
        }
        try #require(done.wait(timeout: Patience.end) == .success)
        return try #require(result.withLock { $0 }).get()
    }
}
