import KleosModel
package import KleosSupport

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

    func meta(_ name: String) throws(StoreError) -> String? {
        try database.first("SELECT value FROM meta WHERE name = ?1", SQLValue(name)) { $0.text(0) }
    }

    private func setMeta(_ name: String, _ value: String) throws(StoreError) {
        try database.run(
            "INSERT INTO meta(name, value) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
            SQLValue(name), SQLValue(value))
    }

    /// Whether the database came from another machine and was not adopted.
    func isClone() throws(StoreError) -> Bool {
        guard !options.machineID.isEmpty, let known = try meta("machine") else { return false }
        return known != options.machineID
    }

    /// Remembers the machine in a new database. In one from another machine, holds everything that was under way there,
    /// once: what is submitted here goes its way. Returns whether something is waiting for `adopt`.
    func checkMachine(nowMilliseconds: Int64) throws(StoreError) -> Bool {
        if options.machineID.isEmpty { return false }
        guard try meta("machine") != nil else {
            try setMeta("machine", options.machineID)
            return false
        }
        guard try isClone() else { return false }
        if try meta("held-on") == options.machineID { return true }
        try setMeta("held-on", options.machineID)
        _ = try hold(in: [.waiting, .ready, .sending], endpoint: nil, reason: .clone)
        return true
    }

    /// Holds all deliveries in `states`, those to one endpoint or, with nil, to any. Returns how many.
    private func hold(
        in states: [DeliveryState], endpoint: Int64?, reason: DeliveryReason
    ) throws(StoreError) -> Int {
        var held = 0
        for state in states {
            let counts = try database.rows(
                """
                SELECT endpoint, count(*) FROM deliveries WHERE state = ?1 AND (?2 IS NULL OR endpoint = ?2)
                GROUP BY endpoint
                """, [SQLValue(state.rawValue), SQLValue(endpoint)]
            ) { (endpoint: $0.integer(0), count: $0.integer(1)) }
            for (endpoint, count) in counts {
                effects.counts[CounterKey(endpoint: endpoint, state: state.rawValue), default: 0] -= count
                effects.counts[CounterKey(endpoint: endpoint, state: "held"), default: 0] += count
            }
            held += try database.run(
                """
                UPDATE deliveries SET state = 'held', reason = ?3, pending = NULL, backoff = 0,
                    unanswered = max(unanswered, state = 'sending')
                WHERE state = ?1 AND (?2 IS NULL OR endpoint = ?2)
                """, SQLValue(state.rawValue), SQLValue(endpoint), SQLValue(reason.rawValue))
        }
        return held
    }

    /// Where a second send counts twice, holds what was under way in a database that was restored from a backup: it may
    /// have been delivered since. Returns how many.
    func holdRestored(atMostOnceEndpoints: Set<String>) throws(StoreError) -> Int {
        guard try meta("restored") != nil else { return 0 }
        var held = 0
        for name in atMostOnceEndpoints.sorted() {
            guard let endpoint = try endpointID(name) else { continue }
            held += try hold(in: [.waiting, .ready], endpoint: endpoint, reason: .restored)
        }
        return held
    }

    /// Forgets that the database was restored, now that what has to be held is.
    func forgetRestore() throws(StoreError) {
        try database.run("DELETE FROM meta WHERE name = 'restored'")
    }

    /// Makes this machine the owner of a database that came from another one, and releases what is held for that. One
    /// step; the caller goes on while there is more to do.
    package func adopt(now: ClockReading) throws(StoreError) -> CloneStep {
        let held = try claimClone()
        for id in held {
            guard var row = try row(id), row.state == .held else { continue }
            try move(&row, to: .waiting, nowMilliseconds: now.wallMilliseconds)
            try settleStream(row.stream, nowMilliseconds: now.wallMilliseconds)
        }
        return CloneStep(changed: held.count, hasMore: held.count == Self.stepDeliveries)
    }

    /// Makes this machine the owner of a database whose original goes on elsewhere, and throws away what is held for
    /// that, with all that it would replace: the other machine sends it. One step, as `adopt`.
    package func reset(now: ClockReading) throws(StoreError) -> CloneStep {
        let held = try claimClone()
        var step = CloneStep(changed: 0, hasMore: held.count == Self.stepDeliveries)
        var left = held
        while let id = left.popLast() {
            guard var row = try row(id), row.state.isUnsettled, row.state != .sending else { continue }
            left += try database.rows("SELECT id FROM deliveries WHERE superseded_by = ?1", [SQLValue(id.number)]) {
                DeliveryID($0.integer(0))
            }
            try giveUp(
                &row, as: .discarded, reason: nil, message: "the machine that the queue was copied from sends it",
                nowMilliseconds: now.wallMilliseconds)
            step.changed += 1
        }
        return step
    }

    private func claimClone() throws(StoreError) -> [DeliveryID] {
        if !options.machineID.isEmpty { try setMeta("machine", options.machineID) }
        return try database.rows(
            """
            SELECT id FROM deliveries INDEXED BY deliveries_kept WHERE state = 'held' AND reason = 'clone'
            ORDER BY id LIMIT ?1
            """, [SQLValue(Self.stepDeliveries)]
        ) { DeliveryID($0.integer(0)) }
    }
}

/// One step over what a clone holds.
package struct CloneStep: Sendable, Equatable {
    /// Deliveries.
    package var changed: Int
    package var hasMore: Bool
}
