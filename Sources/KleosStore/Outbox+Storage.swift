import KleosModel
import KleosSupport

extension Outbox {
    /// Bytes of the database that hold something.
    func usedBytes() throws(StoreError) -> Int64 {
        let pages = try database.integer("PRAGMA page_count") ?? 0
        let free = try database.integer("PRAGMA freelist_count") ?? 0
        return (pages - free) * Database.pageBytes
    }

    /// The room that the database takes and has.
    package func storage() throws(StoreError) -> StorageReport {
        let used = try usedBytes()
        let refusal = try space.reasonToRefuse(usedBytes: { used })
        return StorageReport(
            path: space.databasePath, usedBytes: used, limitBytes: options.maximumBytes,
            freeBytes: space.freeBytes(), floorBytes: options.freeFloorBytes,
            userLimitBytes: options.maximumBytesPerUser == .max ? nil : options.maximumBytesPerUser,
            isAccepting: refusal == nil,
            isClone: try isClone())
    }

    /// Reads what is remembered under `name`.
    func meta(_ name: MetaName) throws(StoreError) -> String? {
        try database.first("SELECT value FROM meta WHERE name = ?1", SQLValue(name.rawValue)) { $0.text(0) }
    }

    /// Remembers `value` under `name`.
    func setMeta(_ name: MetaName, _ value: String) throws(StoreError) {
        try database.run(
            "INSERT INTO meta(name, value) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
            SQLValue(name.rawValue), SQLValue(value))
    }

    /// Forgets what is remembered under `name`.
    func removeMeta(_ name: MetaName) throws(StoreError) {
        try database.run("DELETE FROM meta WHERE name = ?1", SQLValue(name.rawValue))
    }

    /// Holds all deliveries in `states`, those to one endpoint or, with nil, to any, of events up to number `event`.
    /// Returns how many.
    func hold(
        in states: [DeliveryState], endpoint: Int64? = nil, upToEvent event: Int64 = .max, reason: DeliveryReason
    ) throws(StoreError) -> Int {
        var held = 0
        for state in states {
            let counts = try database.rows(
                """
                SELECT endpoint, count(*) FROM deliveries
                WHERE state = ?1 AND (?2 IS NULL OR endpoint = ?2) AND event <= ?3 GROUP BY endpoint
                """, [SQLValue(state.rawValue), SQLValue(endpoint), SQLValue(event)]
            ) { (endpoint: $0.integer(0), count: $0.integer(1)) }
            for (endpoint, count) in counts {
                effects.counts[CounterKey(endpoint: endpoint, state: state.rawValue), default: 0] -= count
                effects.counts[CounterKey(endpoint: endpoint, state: "held"), default: 0] += count
            }
            held += try database.run(
                """
                UPDATE deliveries SET state = 'held', reason = ?4, backoff = 0
                WHERE state = ?1 AND (?2 IS NULL OR endpoint = ?2) AND event <= ?3
                """, SQLValue(state.rawValue), SQLValue(endpoint), SQLValue(event), SQLValue(reason.rawValue))
        }
        return held
    }

    /// Where a second send counts twice, holds what was under way in a database that was restored from a backup: it may
    /// have been delivered since. Who adopts a backup of another machine does not know that either. Returns how many.
    func holdRestored(atMostOnceEndpoints: Set<String>) throws(StoreError) -> Int {
        guard try meta(.restored) != nil else { return 0 }
        var held = 0
        for name in atMostOnceEndpoints.sorted() {
            guard let endpoint = try endpointID(name) else { continue }
            held += try hold(in: [.waiting, .ready], endpoint: endpoint, reason: .restored)
            held += try database.run(
                """
                UPDATE deliveries SET reason = 'restored' WHERE state = 'held' AND reason = 'clone' AND endpoint = ?1
                """, SQLValue(endpoint))
        }
        return held
    }

    /// Forgets that the database was restored, now that what has to be held is.
    func forgetRestore() throws(StoreError) { try removeMeta(.restored) }
}

/// What the database remembers of itself.
enum MetaName: String {
    /// The machine that it belongs to.
    case machine
    /// The machine on which it was found to come from another one.
    case heldOn = "held-on"
    /// The newest event that was there then; kept until somebody says whose the queue is.
    case copiedEvents = "copied-events"
    /// The newest notice that was there then, likewise.
    case copiedNotices = "copied-notices"
    /// When it was put in place from a backup; kept until the next start has held what may have been delivered since.
    case restored
}
