import KleosModel
package import KleosSupport

extension Outbox {
    /// How many rows one step of retention looks at.
    private static let lookedAtPerStep = 400
    /// How many it removes.
    static let removedPerStep = 100
    /// How many notices that nobody was shown are kept for a user, the newest.
    static let pendingNoticesPerUser = 10_000

    private static let walkSQL = SQL("\(Deliveries.selectDone) WHERE d.id > ?1 ORDER BY d.id LIMIT ?2")
    private static let restampSQL = SQL("UPDATE done SET settled = ?2, settled_synchronized = 1 WHERE id = ?1")
    private static let shownSQL = SQL(
        """
        DELETE FROM notices WHERE number IN (
            SELECT number FROM notices WHERE shown IS NOT NULL AND shown < ?1 ORDER BY shown LIMIT ?2)
        """)
    private static let untoldSQL = SQL(
        """
        DELETE FROM notices WHERE number IN (
            SELECT number FROM notices WHERE uid = ?1 AND shown IS NULL ORDER BY number DESC LIMIT ?2 OFFSET ?3)
        """)
    private static let deadSQL = SQL(
        "\(Deliveries.selectDone) WHERE d.state = 6 AND d.uid = ?1 ORDER BY d.id LIMIT ?2")
    private static let idsSQL = SQL(
        "SELECT \(ClientIDRow.table.list) FROM client_ids i WHERE i.hash > ?1 ORDER BY i.hash LIMIT ?2")
    private static let originsSQL = SQL(
        "SELECT \(OriginRow.table.list) FROM origins o WHERE o.id > ?1 ORDER BY o.id LIMIT 1")
    private static let laterOriginSQL = SQL("SELECT 1 FROM origins WHERE id > ?1 LIMIT 1")
    private static let isNamedSQL = SQL(
        "SELECT 1 FROM events WHERE id >= ?1 AND id < ?2 AND origin = ?3 LIMIT 1")

    /// One small step of retention: removes what has been visible long enough. Nothing goes on the word of a clock that
    /// no time source disciplined, neither now nor when it was settled. Returns whether there is more to do; then the
    /// caller calls again when other work allows.
    package func maintain(now: ClockReading) throws(StoreError) -> Bool {
        var hasMore = try removeDeadBeyondLimit()
        if try removeNoticesBeyondLimit() { hasMore = true }
        guard now.isSynchronized else { return hasMore }
        let cutoff = now.wallMilliseconds - options.deliveredRetentionMilliseconds
        if try removeReceipts(settledBefore: cutoff, now: now) { hasMore = true }
        if try database.run(Self.shownSQL, SQLValue(cutoff), SQLValue(Self.removedPerStep)) == Self.removedPerStep {
            hasMore = true
        }
        if try forgetIDs(now: now) { hasMore = true }
        if try removeOrigin() { hasMore = true }
        return hasMore
    }

    private func removeReceipts(settledBefore cutoff: Int64, now: ClockReading) throws(StoreError) -> Bool {
        let rows = try database.rows(
            Self.walkSQL, [SQLValue(upkeep.retained), SQLValue(Self.lookedAtPerStep)]
        ) { deliveries.done($0) }
        for row in rows where try isReceipt(row) {
            if !row.isSettledSynchronized {
                try database.run(Self.restampSQL, SQLValue(row.id.number), SQLValue(now.wallMilliseconds))
            } else if row.settled ?? 0 < cutoff {
                try erase(row)
            }
        }
        let hasMore = rows.count == Self.lookedAtPerStep
        upkeep.retained = hasMore ? rows.last?.id.number ?? 0 : 0
        return hasMore
    }

    /// Whether nothing depends on a delivery any more: nobody has to decide about it, and it cannot come back.
    private func isReceipt(_ row: DeliveryRow) throws(StoreError) -> Bool {
        switch row.state {
        case .delivered, .discarded: return true
        case .superseded:
            guard row.round != nil else { return true }
            return isReplacedForGood(row, in: try streams.named(row.stream))
        default: return false
        }
    }

    /// Where nobody ever comes to be told, as on a server, notices would fill the disk.
    private func removeNoticesBeyondLimit() throws(StoreError) -> Bool {
        guard try counters.value(.pendingNotices) > Int64(Self.pendingNoticesPerUser) else { return false }
        var removed = 0
        for uid in try usersWithUnshownNotices() where removed < Self.removedPerStep {
            let count = try database.run(
                Self.untoldSQL, SQLValue(uid), SQLValue(Self.removedPerStep), SQLValue(Self.pendingNoticesPerUser))
            counters.add(-Int64(count), to: .pendingNotices)
            removed += count
        }
        return removed >= Self.removedPerStep
    }

    /// Dead deliveries go only where an operator set a limit for them.
    private func removeDeadBeyondLimit() throws(StoreError) -> Bool {
        guard let limit = options.maximumDeadPerUser else { return false }
        var removed = 0
        for (key, count) in try counters.all(.deadOfUser) where count > Int64(limit) {
            let uid = UInt32(truncatingIfNeeded: key.first)
            let excess = min(count - Int64(limit), Int64(Self.removedPerStep))
            let rows = try database.rows(Self.deadSQL, [SQLValue(uid), SQLValue(excess)]) { deliveries.done($0) }
            for row in rows { try erase(row) }
            counters.add(Int64(rows.count), to: .removedDead)
            removed += rows.count
            log(
                .warning, "removed the oldest dead deliveries beyond the limit per user",
                ["uid": "\(uid)", "count": "\(rows.count)", "limit": "\(limit)"])
            if removed >= Self.removedPerStep { return true }
        }
        return false
    }

    /// Ids whose events are gone stay known for as long as was promised.
    private func forgetIDs(now: ClockReading) throws(StoreError) -> Bool {
        let rows = try database.rows(
            Self.idsSQL, [.blob(upkeep.forgotten), SQLValue(Self.lookedAtPerStep)]
        ) { ClientIDRow.table.read($0) }
        let today = now.wallMilliseconds / 86_400_000
        for var row in rows {
            if row.day == 0 {
                row.day = today
                try database.update(row)
            } else if row.day + Int64(options.idRetentionDays) < today, try events.number(of: row.key) == nil {
                try database.delete(ClientIDRow.self, .blob(row.hash))
            }
        }
        let hasMore = rows.count == Self.lookedAtPerStep
        upkeep.forgotten = hasMore ? rows.last?.hash ?? [] : []
        return hasMore
    }

    private func removeOrigin() throws(StoreError) -> Bool {
        guard
            let row = try database.first(Self.originsSQL, SQLValue(upkeep.origins), read: { OriginRow.table.read($0) })
        else {
            upkeep.origins = 0
            return false
        }
        let isLast = try database.integer(Self.laterOriginSQL, SQLValue(row.number)) == nil
        upkeep.origins = isLast ? 0 : row.number
        let end = row.firstEvent + OriginRow.window
        // Events that are still to come may name it.
        guard end <= (try events.last()) else { return !isLast }
        let named = try database.integer(
            Self.isNamedSQL, SQLValue(row.firstEvent), SQLValue(end), SQLValue(row.number))
        if named == nil {
            try database.delete(OriginRow.self, SQLValue(row.number))
            events.forget()
        }
        return !isLast
    }

    // MARK: - Under pressure

    /// Makes room for a new event where there is none: receipts go first, those of the user with most of them. Returns
    /// why a new event is refused, where nothing can go.
    func makeRoom() throws(StoreError) -> String? {
        guard let reason = try space.reasonToRefuse(usedBytes: { () throws(StoreError) in try usedBytes() }) else {
            return nil
        }
        guard space.isOverLimit, try shedReceipts() else { return reason }
        return nil
    }

    /// Removes some receipts of the user with most; the ids of their events stay known. Returns false once all were
    /// looked through and none is left.
    private func shedReceipts() throws(StoreError) -> Bool {
        let shares = try counters.all(.receiptBytes).filter { $0.value > 0 && !upkeep.barren.contains($0.key.first) }
        guard let most = shares.max(by: { ($0.value, $1.key.first) < ($1.value, $0.key.first) })?.key.first else {
            upkeep.barren = []
            return false
        }
        let rows = try database.rows(
            Self.walkSQL, [SQLValue(upkeep.shed), SQLValue(Self.lookedAtPerStep)]
        ) { deliveries.done($0) }
        var removed = 0
        for row in rows where Int64(row.uid) == most && removed < Self.removedPerStep {
            guard try mayBeShed(row) else { continue }
            try erase(row)
            removed += 1
        }
        let isPassEnded = rows.count < Self.lookedAtPerStep
        upkeep.shed = isPassEnded || removed > 0 ? 0 : rows.last?.id.number ?? 0
        if removed == 0, isPassEnded { upkeep.barren.insert(most) }
        counters.add(Int64(removed), to: .removedReceipts)
        return true
    }

    private static let betterSQL = SQL(
        """
        SELECT count(*) FROM (
            SELECT 1 FROM done d WHERE d.stream = ?1 AND d.round = ?2 AND d.worth > ?3 AND d.worth < ?4
                AND d.round IS NOT NULL LIMIT 8)
        """)

    /// Whether a delivery may go where its room is needed: a receipt, or what gave way to others that are better than it
    /// and stay. The eight best of a contest stay.
    private func mayBeShed(_ row: DeliveryRow) throws(StoreError) -> Bool {
        if try isReceipt(row) { return true }
        guard row.state == .superseded, let round = row.round, let worth = row.worth, let kind = worth.first else {
            return false
        }
        let better = try database.integer(
            Self.betterSQL, SQLValue(row.stream), SQLValue(round), .blob(worth), .blob([kind + 1]))
        return better == 8
    }
}
