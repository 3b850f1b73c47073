import KleosModel
package import KleosSupport

extension Outbox {
    /// How many deliveries one step of retention starts with.
    static let removedPerStep = 100
    /// How many it looks at in all, those included that they had replaced.
    static let visitsPerStep = 1_000
    /// How many notices that nobody was shown are kept for a user, the newest.
    static let pendingNoticesPerUser = 10_000

    /// One small step of retention: removes what has been visible long enough. Returns whether there is more to do;
    /// then the caller calls again when other work allows.
    package func maintain(now: ClockReading) throws(StoreError) -> Bool {
        let cutoff = now.wallMilliseconds - options.deliveredRetentionMilliseconds
        let old = try database.rows(
            """
            SELECT id FROM deliveries
            WHERE (state IN ('delivered', 'discarded') OR (state = 'superseded' AND superseded_by IS NULL))
                AND settled < ?1
            ORDER BY settled LIMIT ?2
            """, [SQLValue(cutoff), SQLValue(Self.removedPerStep)]
        ) { DeliveryID($0.integer(0)) }
        let visits = try remove(old)
        let notices = try database.run(
            "DELETE FROM notices WHERE number IN (SELECT number FROM notices WHERE shown < ?1 ORDER BY shown LIMIT ?2)",
            SQLValue(cutoff), SQLValue(Self.removedPerStep))
        let dead = try removeDeadBeyondLimit()
        let untold = try removeNoticesBeyondLimit()
        return old.count == Self.removedPerStep || visits == Self.visitsPerStep || notices == Self.removedPerStep
            || dead >= Self.removedPerStep || untold >= Self.removedPerStep
    }

    /// Where nobody ever comes to be told, as on a server, notices would fill the disk.
    private func removeNoticesBeyondLimit() throws(StoreError) -> Int {
        var removed = 0
        for uid in try usersWithPendingNotices() where removed < Self.removedPerStep {
            let count = try database.run(
                """
                DELETE FROM notices WHERE number IN (
                    SELECT number FROM notices WHERE uid = ?1 AND shown IS NULL
                    ORDER BY number DESC LIMIT ?2 OFFSET ?3)
                """, SQLValue(uid), SQLValue(Self.removedPerStep), SQLValue(Self.pendingNoticesPerUser))
            effects.counts[.pendingNotices, default: 0] -= Int64(count)
            removed += count
        }
        return removed
    }

    private func removeDeadBeyondLimit() throws(StoreError) -> Int {
        var removed = 0
        var uid: Int64 = -1
        while removed < Self.removedPerStep,
            let next = try database.integer(
                "SELECT min(uid) FROM deliveries WHERE state = 'dead' AND uid > ?1", SQLValue(uid))
        {
            uid = next
            let excess = try database.rows(
                """
                SELECT id FROM deliveries WHERE state = 'dead' AND uid = ?1 ORDER BY id DESC LIMIT ?2 OFFSET ?3
                """, [SQLValue(uid), SQLValue(Self.removedPerStep), SQLValue(options.maximumDeadPerUser)]
            ) { DeliveryID($0.integer(0)) }
            _ = try remove(excess)
            removed += excess.count
            if !excess.isEmpty {
                log(
                    .warning, "removed the oldest dead deliveries beyond the limit per user",
                    ["uid": "\(uid)", "count": "\(excess.count)", "limit": "\(options.maximumDeadPerUser)"])
            }
        }
        return removed
    }

    /// Removes settled deliveries and what each of them had replaced, and events whose last delivery is gone. A long
    /// chain is followed by the next steps: what is left of it is replaced by nothing then, and gets older by itself.
    /// Returns how many deliveries were looked at.
    private func remove(_ ids: [DeliveryID]) throws(StoreError) -> Int {
        var pending = ids
        var visits = 0
        while visits < Self.visitsPerStep, let id = pending.popLast() {
            visits += 1
            let replaced = try database.rows(
                "SELECT id FROM deliveries WHERE superseded_by = ?1 ORDER BY id LIMIT ?2",
                [SQLValue(id.number), SQLValue(Self.removedPerStep)]
            ) { DeliveryID($0.integer(0)) }
            for id in replaced {
                try database.run(
                    "UPDATE deliveries SET superseded_by = NULL WHERE id = ?1 AND state = 'superseded'",
                    SQLValue(id.number))
            }
            if replaced.count == Self.removedPerStep { pending.append(id) } else { try erase(id) }
            pending += replaced
        }
        return visits
    }

    /// Removes a delivery with its receipt, and its event with the last one.
    func erase(_ id: DeliveryID) throws(StoreError) {
        guard let row = try row(id) else { return }
        try database.run("DELETE FROM attempts WHERE delivery = ?1", SQLValue(id.number))
        try database.run("DELETE FROM renderings WHERE delivery = ?1", SQLValue(id.number))
        try database.run("DELETE FROM deliveries WHERE id = ?1", SQLValue(id.number))
        effects.counts[CounterKey(endpoint: row.endpoint, state: row.state.rawValue), default: 0] -= 1
        countRemovedDelivery(of: row.uid)
        let other = try database.integer("SELECT 1 FROM deliveries WHERE event = ?1 LIMIT 1", SQLValue(row.event))
        guard other == nil else { return }
        try countRemoved(event: row.event, of: row.uid)
        try database.run("DELETE FROM events WHERE id = ?1", SQLValue(row.event))
        try forgetCopied(event: row.event)
    }
}
