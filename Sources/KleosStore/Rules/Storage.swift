import KleosModel
import KleosSupport

extension Outbox {
    private static let pagesSQL = SQL("PRAGMA page_count")
    private static let freePagesSQL = SQL("PRAGMA freelist_count")

    /// Bytes of the database that hold something.
    func usedBytes() throws(StoreError) -> Int64 {
        let pages = try database.integer(Self.pagesSQL) ?? 0
        let free = try database.integer(Self.freePagesSQL) ?? 0
        return (pages - free) * Database.pageBytes
    }

    /// The room that the database takes and has.
    package func storage() throws(StoreError) -> StorageReport {
        let used = try usedBytes()
        let refusal = try space.reasonToRefuse(usedBytes: { used })
        return StorageReport(
            path: space.databasePath, usedBytes: used, limitBytes: options.maximumBytes,
            freeBytes: space.askFreeBytes(), floorBytes: options.freeFloorBytes,
            userLimitBytes: options.maximumBytesPerUser == .max ? nil : options.maximumBytesPerUser,
            isAccepting: refusal == nil,
            isClone: try isClone(), isMachineKnown: !options.machineID.isEmpty)
    }

    private static let walkSQL = SQL(
        "\(Deliveries.selectQueue) WHERE q.id <= ?1 AND q.id > ?2 ORDER BY q.id LIMIT 1000")
    private static let restoredSQL = SQL(
        """
        UPDATE queue SET reason = \(DeliveryReason.restored.code)
        WHERE state = 2 AND reason = \(DeliveryReason.clone.code) AND id & \(DeliveryNumber.maximumEndpoint) = ?1
        """)

    /// Holds what waits or is ready of deliveries up to number `last`, those to one endpoint or, with nil, to any.
    /// Returns how many.
    func hold(upTo last: Int64, endpoint: Int64?, reason: DeliveryReason) throws(StoreError) -> Int {
        var held = 0
        var after: Int64 = 0
        while true {
            let rows = try database.rows(Self.walkSQL, [SQLValue(last), SQLValue(after)]) { deliveries.queued($0) }
            for row in rows where row.state == .waiting || row.state == .ready {
                if let endpoint, row.id.endpoint != endpoint { continue }
                var row = row
                let old = row.state
                row.state = .held
                row.reason = reason
                row.due = nil
                try write(&row, from: old)
                held += 1
            }
            guard rows.count == 1_000, let next = rows.last else { return held }
            after = next.id.number
        }
    }

    /// Where a second send counts twice, holds what was under way in a database that was restored from a backup: it may
    /// have been delivered since. Who adopts a backup of another machine does not know that either. Returns how many.
    func holdRestored(atMostOnceEndpoints: Set<String>) throws(StoreError) -> Int {
        guard try database.meta(.restored) != nil else { return 0 }
        var held = 0
        for name in atMostOnceEndpoints.sorted() {
            guard let endpoint = try endpoints.id(name) else { continue }
            held += try hold(upTo: .max, endpoint: endpoint, reason: .restored)
            held += try database.run(Self.restoredSQL, SQLValue(endpoint))
        }
        return held
    }

    /// Forgets that the database was restored, now that what has to be held is.
    func forgetRestore() throws(StoreError) { try database.removeMeta(.restored) }
}
