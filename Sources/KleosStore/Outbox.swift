import KleosModel
import KleosSupport

/// The outbox inside the open transaction; used only within `Store.perform`.
///
/// Every method throws `StoreError`. A method that throws may have changed something; the transaction is then undone.
package final class Outbox {
    let database: Connection
    let options: StoreOptions
    let log: Log
    let space: Space
    /// What the open transaction did, told after its COMMIT.
    var effects = Effects()
    private var endpointIDs: [String: Int64] = [:]
    private var endpointNames: [Int64: String] = [:]
    /// Counters of users as the open transaction found them.
    var userBytes: [UInt32: Int64] = [:]

    /// In place of the next COMMIT, for tests of what follows a failed one.
    var commitFault: StoreError?

    init(database: Connection, options: StoreOptions, space: Space, log: Log) {
        self.database = database
        self.options = options
        self.space = space
        self.log = log
    }

    /// What a transaction did besides changing rows.
    struct Effects {
        /// Change of the number of deliveries by endpoint and state.
        var counts: [CounterKey: Int64] = [:]
        var changes = OutboxChanges()
    }

    /// A counter's place.
    struct CounterKey: Hashable {
        /// 0 for what belongs to no endpoint.
        var endpoint: Int64
        var state: String

        static let pendingNotices = CounterKey(endpoint: 0, state: "notices")

        static let bytesPrefix = "bytes-of-"

        /// What the events of `uid` take on disk.
        static func bytes(of uid: UInt32) -> CounterKey {
            CounterKey(endpoint: 0, state: "\(bytesPrefix)\(uid)")
        }
    }

    /// Opens a transaction.
    func begin() throws(StoreError) {
        precondition(effects.counts.isEmpty && effects.changes.isEmpty, "effects of a transaction that was not ended")
        userBytes.removeAll(keepingCapacity: true)
        space.startTransaction()
        try database.run("BEGIN")
    }

    /// Makes the transaction durable and returns what it changed.
    func commit() throws(StoreError) -> OutboxChanges {
        for (key, count) in effects.counts where count != 0 { try add(count, to: key) }
        if let commitFault {
            self.commitFault = nil
            throw commitFault
        }
        try database.run("COMMIT")
        defer { effects = Effects() }
        return effects.changes
    }

    /// Undoes the transaction; also where SQLite has already done so.
    func rollback() throws(StoreError) {
        effects = Effects()
        endpointIDs.removeAll()
        endpointNames.removeAll()
        if database.isInTransaction { try database.run("ROLLBACK") }
    }

    /// Whether the open transaction changed anything since `totalChanges` was read.
    func hasChanged(since totalChanges: Int64) -> Bool {
        database.totalChanges != totalChanges || !database.isInTransaction
    }

    private func add(_ count: Int64, to key: CounterKey) throws(StoreError) {
        let changed = try database.run(
            "UPDATE counters SET count = count + ?1 WHERE endpoint = ?2 AND state = ?3", SQLValue(count),
            SQLValue(key.endpoint), SQLValue(key.state))
        if changed == 0 {
            try database.run(
                "INSERT INTO counters(endpoint, state, count) VALUES(?1, ?2, ?3)", SQLValue(key.endpoint),
                SQLValue(key.state), SQLValue(count))
        }
    }

    /// The endpoint's row number, or nil where it never had a delivery or a record.
    func endpointID(_ name: String) throws(StoreError) -> Int64? {
        if let id = endpointIDs[name] { return id }
        guard let id = try database.integer("SELECT id FROM endpoints WHERE name = ?1", SQLValue(name)) else {
            return nil
        }
        endpointIDs[name] = id
        endpointNames[id] = name
        return id
    }

    /// The endpoint's row number; the row is made where it is missing.
    func makeEndpointID(_ name: String) throws(StoreError) -> Int64 {
        if let id = try endpointID(name) { return id }
        try database.run("INSERT INTO endpoints(name) VALUES(?1)", SQLValue(name))
        let id = database.lastRowID
        endpointIDs[name] = id
        endpointNames[id] = name
        return id
    }

    /// The endpoint's name.
    func endpointName(_ id: Int64) throws(StoreError) -> String {
        if let name = endpointNames[id] { return name }
        let name = try database.first("SELECT name FROM endpoints WHERE id = ?1", SQLValue(id)) { $0.text(0) }
        guard let name else {
            throw StoreError(
                .damaged, operation: "name an endpoint",
                message: "a delivery points to endpoint \(id), which is missing")
        }
        endpointIDs[name] = id
        endpointNames[id] = name
        return name
    }
}
