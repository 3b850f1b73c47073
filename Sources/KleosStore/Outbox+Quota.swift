import KleosModel

/// How much room each user takes: counted as events come and go, so that asking costs nothing.
///
/// What an event takes is reckoned from its own length and not measured, so that adding it and taking it away give the
/// same. The constants are above what rows, their indexes and a few attempts were measured to take.
extension Outbox {
    private static let eventBytes: Int64 = 192
    private static let deliveryBytes: Int64 = 256

    /// Twice the texts: ids stand in an index too, metadata in what is rendered to be sent.
    private static let eventBytesSQL = """
        \(eventBytes) + 2 * (length(CAST(player AS BLOB)) + length(CAST(item AS BLOB))
            + coalesce(length(CAST(client_id AS BLOB)), 0) + coalesce(length(metadata), 0)
            + coalesce(length(CAST(executable AS BLOB)), 0) + coalesce(length(CAST(unit AS BLOB)), 0))
        """

    /// Each user's name for the counter, and what it has to say.
    static let usersSQL = """
        SELECT 'bytes-of-' || uid AS state, sum(bytes) AS count FROM (
            SELECT uid, \(eventBytesSQL) AS bytes FROM events
            UNION ALL SELECT uid, \(deliveryBytes) AS bytes FROM deliveries
        ) GROUP BY uid
        """

    /// Sets each user's counter from what is stored.
    static let countUsersSQL = "INSERT INTO counters(endpoint, state, count) SELECT 0, state, count FROM (\(usersSQL));"

    /// Why no more events of `uid` are taken; nil where there is room.
    func reasonToRefuse(uid: UInt32) throws(StoreError) -> String? {
        let used = try usedBytes(of: uid)
        guard used >= options.maximumBytesPerUser else { return nil }
        return "the events of user \(uid) use \(used) of the \(options.maximumBytesPerUser) bytes that "
            + "MaximumSharePerUser= leaves to one user; they make room when they were delivered KeepDelivered= ago"
    }

    /// About what the events of `uid` take.
    func usedBytes(of uid: UInt32) throws(StoreError) -> Int64 {
        let key = CounterKey.bytes(of: uid)
        let stored: Int64
        if let known = userBytes[uid] {
            stored = known
        } else {
            stored =
                try database.integer(
                    "SELECT count FROM counters WHERE endpoint = ?1 AND state = ?2", SQLValue(key.endpoint),
                    SQLValue(key.state)) ?? 0
            userBytes[uid] = stored
        }
        return stored + effects.counts[key, default: 0]
    }

    /// What the events of `uid` take, and for nil those of the users with the most, the greatest first.
    package func users(visibleTo uid: UInt32?, limit: Int) throws(StoreError) -> [UserShare] {
        if let uid { return [UserShare(uid: uid, usedBytes: try usedBytes(of: uid))] }
        let rows = try database.rows(
            """
            SELECT state, count FROM counters WHERE endpoint = 0 AND state LIKE 'bytes-of-%' AND count > 0
            ORDER BY count DESC LIMIT ?1
            """, [SQLValue(limit)]
        ) { (name: $0.text(0), count: $0.integer(1)) }
        return rows.compactMap { row in
            UInt32(row.name.dropFirst(CounterKey.bytesPrefix.count)).map { UserShare(uid: $0, usedBytes: row.count) }
        }
    }

    /// Counts an event that is added.
    func countAdded(_ event: Event) {
        let submitter = event.submitter
        var texts = event.player.utf8.count + event.subject.item.utf8.count + (event.clientID?.utf8.count ?? 0)
        texts += event.metadata?.count ?? 0
        texts += (submitter.executable?.utf8.count ?? 0) + (submitter.unit?.utf8.count ?? 0)
        effects.counts[.bytes(of: submitter.uid), default: 0] += Self.eventBytes + 2 * Int64(texts)
    }

    /// Takes an event off that is removed next.
    func countRemoved(event id: Int64, of uid: UInt32) throws(StoreError) {
        let bytes = try database.integer("SELECT \(Self.eventBytesSQL) FROM events WHERE id = ?1", SQLValue(id)) ?? 0
        effects.counts[.bytes(of: uid), default: 0] -= bytes
    }

    /// Counts a delivery that is added.
    func countAddedDelivery(of uid: UInt32) {
        effects.counts[.bytes(of: uid), default: 0] += Self.deliveryBytes
    }

    /// Takes a delivery off that is removed.
    func countRemovedDelivery(of uid: UInt32) {
        effects.counts[.bytes(of: uid), default: 0] -= Self.deliveryBytes
    }
}
