import KleosModel
import KleosSupport
import KleosTestSupport
import Synchronization

@testable import KleosStore

/// A store on a disk that may stop at any moment: what it never answers is told apart from what it refuses.
final class FragileStore: Sendable {
    let store: Store
    private let failure = Mutex<StoreError?>(nil)

    /// Opens the outbox in `folder` on `disk`. `synchronous` replaces how COMMITs are synced. Throws `StoreError`.
    init(
        folder: String, disk: SimulatedDisk, clock: ManualClock, retentionMilliseconds: Int64 = 120_000,
        synchronous: String? = nil
    ) throws(StoreError) {
        let options = StoreOptions(
            freeFloorBytes: 0, reserveBytes: 0, deliveredRetentionMilliseconds: retentionMilliseconds,
            machineID: "machine-1", sqliteFileSystem: disk.name)
        store = try Store.open(directory: folder, options: options, clock: clock, log: Log(sink: { _, _ in }))
        store.setFailureHandler { [weak self] error in self?.failure.withLock { $0 = error } }
        guard let synchronous else { return }
        try self.outbox { (outbox) throws(StoreError) in
            try outbox.database.execute("PRAGMA synchronous = \(synchronous)")
        }
    }

    /// Whether a COMMIT failed, so that nothing is answered any more.
    var hasFailed: Bool { failure.withLock { $0 } != nil }

    /// Runs `work` outside any transaction; for what the store does by itself at other times. Throws `StoreError`.
    @discardableResult
    func outbox<T: Sendable>(_ work: @Sendable (Outbox) throws(StoreError) -> T) throws(StoreError) -> T {
        let result: Result<T, StoreError>? = store.withOutbox { outbox in
            do throws(StoreError) { return .success(try work(outbox)) } catch { return .failure(error) }
        }
        guard let result else { throw StoreError(.closed, operation: "test", message: "the store is closed") }
        return try result.get()
    }

    /// Runs `work` in a transaction. Returns the answer, or nil where there is none and never will be.
    func run(
        _ work: @escaping @Sendable (Outbox) throws(StoreError) -> PowerCutAction.Done
    ) -> Result<PowerCutAction.Done, StoreError>? {
        let answer = Answer()
        store.perform(work) { result in answer.result.withLock { $0 = result } }
        // The work was handed over to the store's queue before this.
        store.sync { _ in }
        return answer.result.withLock { $0 }
    }

    private final class Answer: Sendable {
        let result = Mutex<Result<PowerCutAction.Done, StoreError>?>(nil)
    }

    /// Closes the database, as far as the disk lets it.
    func close() {
        store.close {}
        store.sync { _ in }
    }
}

/// Everything that an outbox holds and has to keep, as text that can be compared.
///
/// Left out are the counters and flights, which follow from the rest and are written last, and the claims of notices, which end
/// with the process.
enum OutboxContent {
    private static let omitted: Set<String> = ["claimed_by", "notices.claimed"]
    private static let queries = Mutex<[String: String]>([:])

    static func read(_ database: Connection) throws(StoreError) -> String {
        var text = ""
        let tables = try database.rows(
            .once(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('counters', 'flights') ORDER BY name"
            ), []
        ) { $0.text(0) }
        for table in tables {
            let query = try self.query(table, database)
            text += "\(table)\n\(try database.first(.once(query), read: { $0.text(0) }) ?? "")\n"
        }
        return text
    }

    private static func query(_ table: String, _ database: Connection) throws(StoreError) -> String {
        if let query = queries.withLock({ $0[table] }) { return query }
        let columns = try database.rows(.once("SELECT name FROM pragma_table_info(?1) ORDER BY cid"), [SQLValue(table)])
        {
            $0.text(0)
        }
        let kept = columns.filter { !omitted.contains($0) && !omitted.contains("\(table).\($0)") }
        let row = kept.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
        let query = "SELECT group_concat(line, char(10)) FROM (SELECT \(row) AS line FROM \(table))"
        queries.withLock { $0[table] = query }
        return query
    }
}
