import KleosModel

/// A counter's place.
struct CounterKey: Hashable {
    /// What is counted.
    enum Kind: String, CodedWord {
        /// Deliveries of an endpoint in a state.
        case deliveries
        /// What a user's undelivered and dead events take on disk.
        case owedBytes
        /// What a user's other events take.
        case receiptBytes
        /// A user's dead deliveries about one item.
        case deadOfItem
        /// A user's dead deliveries.
        case deadOfUser
        case pendingNotices
        /// The number that the latest notice got.
        case lastNotice
        /// Events that an operator erased.
        case forgottenEvents
        /// Dead deliveries that were removed because there were too many.
        case removedDead
        /// Receipts that were removed early because there was no room.
        case removedReceipts

        static let words = Array(allCases)

        var code: Int64 {
            switch self {
            case .deliveries: 0
            case .owedBytes: 1
            case .receiptBytes: 2
            case .deadOfItem: 3
            case .pendingNotices: 4
            case .lastNotice: 5
            case .forgottenEvents: 6
            case .removedDead: 7
            case .removedReceipts: 8
            case .deadOfUser: 9
            }
        }
    }

    var kind: Kind
    var first: Int64 = 0
    var second: Int64 = 0

    static let pendingNotices = CounterKey(kind: .pendingNotices)
    static let lastNotice = CounterKey(kind: .lastNotice)
    static let forgottenEvents = CounterKey(kind: .forgottenEvents)
    static let removedDead = CounterKey(kind: .removedDead)
    static let removedReceipts = CounterKey(kind: .removedReceipts)

    static func deliveries(_ endpoint: Int64, _ state: DeliveryState) -> CounterKey {
        CounterKey(kind: .deliveries, first: endpoint, second: state.code)
    }

    static func owedBytes(of uid: UInt32) -> CounterKey { CounterKey(kind: .owedBytes, first: Int64(uid)) }

    static func receiptBytes(of uid: UInt32) -> CounterKey { CounterKey(kind: .receiptBytes, first: Int64(uid)) }
}

/// The counters: what the open transaction adds is written once, at its end.
final class Counters {
    private let database: Connection
    private var added: [CounterKey: Int64] = [:]
    /// As the open transaction found them.
    private var known: [CounterKey: Int64] = [:]

    init(_ database: Connection) { self.database = database }

    private static let addSQL = SQL("UPDATE counters SET count = count + ?4 WHERE kind = ?1 AND a = ?2 AND b = ?3")
    private static let ofKindSQL = SQL("SELECT \(CounterRow.table.list) FROM counters c WHERE kind = ?1")

    /// Adds `count` to the counter.
    func add(_ count: Int64, to key: CounterKey) { added[key, default: 0] += count }

    /// Whether the open transaction added nothing.
    var isUnchanged: Bool { added.isEmpty }

    /// The counter with what the open transaction added. Throws `StoreError`.
    func value(_ key: CounterKey) throws(StoreError) -> Int64 {
        try base(key) + added[key, default: 0]
    }

    private func base(_ key: CounterKey) throws(StoreError) -> Int64 {
        if let value = known[key] { return value }
        let row = try database.find(CounterRow.self, key.kind.stored, SQLValue(key.first), SQLValue(key.second))
        let value = row?.count ?? 0
        known[key] = value
        return value
    }

    /// All counters of a kind, with what the open transaction added. Throws `StoreError`.
    func all(_ kind: CounterKey.Kind) throws(StoreError) -> [CounterKey: Int64] {
        var values: [CounterKey: Int64] = [:]
        let rows = try database.rows(Self.ofKindSQL, [kind.stored]) { CounterRow.table.read($0) }
        for row in rows { values[CounterKey(kind: row.kind, first: row.first, second: row.second)] = row.count }
        for (key, count) in added where key.kind == kind { values[key, default: 0] += count }
        return values
    }

    /// Writes what was added; called before the COMMIT. Throws `StoreError`.
    func write() throws(StoreError) {
        for (key, count) in added where count != 0 {
            let changed = try database.run(
                Self.addSQL, key.kind.stored, SQLValue(key.first), SQLValue(key.second), SQLValue(count))
            if changed == 0 {
                var row = CounterRow()
                (row.kind, row.first, row.second, row.count) = (key.kind, key.first, key.second, count)
                try database.insert(row)
            }
        }
    }

    /// Forgets what the transaction that ends added, and what it found: called after COMMIT and after ROLLBACK.
    func endTransaction(isCommitted: Bool) {
        if isCommitted {
            for (key, count) in added where known[key] != nil { known[key, default: 0] += count }
            if known.count > 1_024 { known.removeAll(keepingCapacity: true) }
        } else {
            known.removeAll(keepingCapacity: true)
        }
        added.removeAll(keepingCapacity: true)
    }
}
