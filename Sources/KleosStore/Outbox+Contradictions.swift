extension Outbox {
    /// What contradicts the rules of an outbox, a line each; nothing in every outbox between transactions. Looks at
    /// every row, so it is for copies, tests and simulations. Throws `StoreError`.
    package func contradictions() throws(StoreError) -> [String] {
        var found = try database.rows("PRAGMA integrity_check", []) { row -> String? in
            row.text(0) == "ok" ? nil : row.text(0)
        }
        // A page that cannot be read now says nothing about what is in it.
        if let unreadable = found.first(where: { $0.contains("unable to get the page") }) {
            throw StoreError(.io, operation: "look through the outbox", message: unreadable)
        }
        for (name, sql) in OutboxRules.rules { found += try database.rows(sql, []) { "\(name): \($0.text(0))" } }
        return found
    }
}

/// What holds in every outbox between transactions.
private enum OutboxRules {
    /// Each query finds what must not be.
    static let rules: [(String, String)] = [
        (
            "more than one fresh head in stream",
            "SELECT stream FROM deliveries WHERE state = 'ready' AND backoff = 0 GROUP BY stream HAVING count(*) > 1"
        ),
        (
            "more than one in flight in stream",
            "SELECT stream FROM deliveries WHERE state = 'sending' GROUP BY stream HAVING count(*) > 1"
        ),
        (
            "a head and a delivery in flight in a strict stream",
            """
            SELECT stream FROM deliveries WHERE strict = 1 AND state IN ('ready', 'sending')
            GROUP BY stream HAVING count(*) > 1
            """
        ),
        (
            "nobody at the head of stream",
            """
            SELECT w.stream FROM deliveries w WHERE w.state = 'waiting'
                AND NOT EXISTS(SELECT 1 FROM deliveries h WHERE h.stream = w.stream AND h.state IN ('ready', 'sending'))
                AND NOT (w.strict = 1 AND EXISTS(
                    SELECT 1 FROM deliveries h WHERE h.stream = w.stream AND h.state = 'held' AND h.id < w.id))
            """
        ),
        (
            "counter differs from count",
            """
            SELECT d.endpoint || ' ' || d.state || ' ' || count(*) FROM deliveries d GROUP BY d.endpoint, d.state
            HAVING count(*) != coalesce(
                (SELECT c.count FROM counters c WHERE c.endpoint = d.endpoint AND c.state = d.state), 0)
            """
        ),
        (
            "counter of nothing",
            """
            SELECT c.state FROM counters c WHERE c.count != 0 AND c.endpoint != 0 AND NOT EXISTS(
                SELECT 1 FROM deliveries d WHERE d.endpoint = c.endpoint AND d.state = c.state)
            """
        ),
        (
            "superseded by what ended without a confirmation",
            """
            SELECT d.id FROM deliveries d JOIN deliveries s ON s.id = d.superseded_by
            WHERE s.state IN ('dead', 'discarded')
            """
        ),
        (
            "never merged, and yet superseded",
            "SELECT id FROM deliveries WHERE merge = 0 AND state = 'superseded'"
        ),
        (
            "a best that is neither confirmed nor under way",
            """
            SELECT d.id FROM deliveries d JOIN events e ON e.id = d.event
            WHERE d.state = 'superseded' AND d.merge IN (1, 2) AND NOT EXISTS(
                SELECT 1 FROM deliveries o JOIN events f ON f.id = o.event
                WHERE o.stream = d.stream AND o.state IN ('waiting', 'ready', 'sending', 'held', 'delivered')
                    AND (CASE d.merge WHEN 2 THEN f.amount >= e.amount ELSE f.amount <= e.amount END))
                AND NOT EXISTS(
                    SELECT 1 FROM standing s WHERE s.id = d.stream
                        AND (CASE d.merge WHEN 2 THEN s.confirmed_amount >= e.amount
                            ELSE s.confirmed_amount <= e.amount END))
            """
        ),
        (
            "counter of notices differs from count",
            """
            SELECT (SELECT count(*) FROM notices WHERE shown IS NULL) FROM (SELECT 1)
            WHERE (SELECT count(*) FROM notices WHERE shown IS NULL) != coalesce(
                (SELECT count FROM counters WHERE endpoint = 0 AND state = 'notices'), 0)
            """
        ),
        (
            "counter of a user's bytes differs from what is there",
            """
            SELECT u.state || ' ' || u.count FROM (\(Outbox.usersSQL)) u LEFT JOIN counters c
                ON c.endpoint = 0 AND c.state = u.state
            WHERE u.count != coalesce(c.count, 0)
            """
        ),
        (
            "delivery without an event",
            "SELECT id FROM deliveries WHERE event NOT IN (SELECT id FROM events)"
        ),
        (
            "event without a delivery",
            "SELECT id FROM events WHERE id NOT IN (SELECT event FROM deliveries)"
        ),
        (
            "delivery without a stream",
            "SELECT id FROM deliveries WHERE stream NOT IN (SELECT id FROM standing)"
        ),
    ]
}
