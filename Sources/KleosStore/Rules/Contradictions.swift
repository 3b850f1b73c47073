import KleosModel

extension Outbox {
    /// What contradicts the rules of an outbox, a line each; nothing in every outbox between transactions. Looks at
    /// every row, so it is for copies, tests and simulations. Throws `StoreError`.
    package func contradictions() throws(StoreError) -> [String] {
        var found = try database.rows(.once("PRAGMA integrity_check"), []) { row -> String? in
            row.text(0) == "ok" ? nil : row.text(0)
        }
        // A page that cannot be read now says nothing about what is in it.
        if let unreadable = found.first(where: { $0.contains("unable to get the page") }) {
            throw StoreError(.io, operation: "look through the outbox", message: unreadable)
        }
        for (name, sql) in OutboxRules.rules {
            found += try database.rows(.once(sql), []) { "\(name): \($0.text(0))" }
        }
        return try found + lostRooms()
    }

    /// Users' counters that differ from what is there.
    private func lostRooms() throws(StoreError) -> [String] {
        var counted: [CounterKey: Int64] = [:]
        func count(_ row: DeliveryRow) {
            let key: CounterKey = row.state.isOwed ? .owedBytes(of: row.uid) : .receiptBytes(of: row.uid)
            counted[key, default: 0] += Self.bytes(of: row)
        }
        let queued = try database.rows(.once(Deliveries.selectQueue)) { deliveries.queued($0) }
        for row in queued { count(row) }
        for row in try database.rows(.once(Deliveries.selectDone), read: { deliveries.done($0) }) { count(row) }
        var found: [String] = []
        for kind in [CounterKey.Kind.owedBytes, .receiptBytes] {
            for (key, value) in try counters.all(kind) where value != counted[key] ?? 0 {
                found.append(
                    "counter of a user's bytes differs from what is there: \(key) \(value) \(counted[key] ?? 0)")
            }
        }
        for row in queued where row.isOrdered == false && row.state == .waiting {
            found.append("nothing to wait for: \(row.id)")
        }
        return found
    }
}

/// What holds in every outbox between transactions.
private enum OutboxRules {
    /// Each query finds what must not be.
    static let rules: [(String, String)] = [
        (
            "more than one fresh head in stream",
            """
            SELECT stream FROM queue WHERE ordered = 1 AND state = 1 AND due IS NULL
            GROUP BY stream HAVING count(*) > 1
                + EXISTS(SELECT 1 FROM flights)
            """
        ),
        (
            "nobody at the head of stream",
            """
            SELECT w.stream FROM queue w WHERE w.state = 0
                AND NOT EXISTS(SELECT 1 FROM queue h WHERE h.stream = w.stream AND h.state = 1)
                AND NOT (w.strict = 1 AND EXISTS(
                    SELECT 1 FROM queue h WHERE h.stream = w.stream AND h.state = 2 AND h.id < w.id))
            """
        ),
        (
            "counter differs from count",
            """
            SELECT endpoint || ' ' || state || ' ' || n FROM (
                SELECT id & 4095 AS endpoint, state, count(*) AS n FROM queue GROUP BY 1, 2
                UNION ALL SELECT id & 4095, state, count(*) FROM done GROUP BY 1, 2)
            WHERE n != coalesce((SELECT c.count FROM counters c WHERE c.kind = 0 AND c.a = endpoint AND c.b = state), 0)
            """
        ),
        (
            "counter of nothing",
            """
            SELECT c.b FROM counters c WHERE c.kind = 0 AND c.count != 0
                AND NOT EXISTS(SELECT 1 FROM queue WHERE id & 4095 = c.a AND state = c.b)
                AND NOT EXISTS(SELECT 1 FROM done WHERE id & 4095 = c.a AND state = c.b)
            """
        ),
        ("never merged, and yet superseded", "SELECT id FROM done WHERE merge = 0 AND state = 5"),
        (
            "gave way to nothing",
            """
            SELECT d.id FROM done d JOIN streams s ON s.id = d.stream
            WHERE d.round = s.round AND NOT EXISTS(SELECT 1 FROM queue q WHERE q.stream = d.stream AND q.ordered = 1)
            """
        ),
        (
            "a best that is neither confirmed nor under way",
            """
            SELECT d.id FROM done d JOIN events e ON e.id = d.id >> 12 JOIN streams s ON s.id = d.stream
            WHERE d.state = 5 AND d.merge IN (1, 2) AND d.round = s.round
                AND (s.settled_worth IS NULL OR s.settled_worth < d.worth)
                AND NOT EXISTS(
                    SELECT 1 FROM queue o JOIN events f ON f.id = o.id >> 12
                    WHERE o.stream = d.stream
                        AND (CASE d.merge WHEN 2 THEN f.amount >= e.amount ELSE f.amount <= e.amount END))
            """
        ),
        (
            "counter of notices differs from count",
            """
            SELECT (SELECT count(*) FROM notices WHERE shown IS NULL) FROM (SELECT 1)
            WHERE (SELECT count(*) FROM notices WHERE shown IS NULL) != coalesce(
                (SELECT count FROM counters WHERE kind = 4 AND a = 0 AND b = 0), 0)
            """
        ),
        (
            "count of what is in backoff differs",
            """
            SELECT s.id FROM streams s WHERE s.in_backoff != (
                SELECT count(*) FROM queue q WHERE q.stream = s.id AND q.ordered = 0 AND q.due IS NOT NULL)
            """
        ),
        ("in the queue and done", "SELECT id FROM queue WHERE id IN (SELECT id FROM done)"),
        (
            "delivery without an event",
            """
            SELECT id FROM queue WHERE id >> 12 NOT IN (SELECT id FROM events)
            UNION ALL SELECT id FROM done WHERE id >> 12 NOT IN (SELECT id FROM events)
            """
        ),
        (
            "event without a delivery",
            """
            SELECT id FROM events WHERE id NOT IN (SELECT id >> 12 FROM queue) AND id NOT IN (SELECT id >> 12 FROM done)
            """
        ),
        (
            "delivery without a stream",
            """
            SELECT id FROM queue WHERE stream NOT IN (SELECT id FROM streams)
            UNION ALL SELECT id FROM done WHERE stream NOT IN (SELECT id FROM streams)
            """
        ),
    ]
}
