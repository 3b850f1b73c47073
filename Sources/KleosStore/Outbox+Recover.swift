package import KleosModel
package import KleosSupport

extension Outbox {
    /// Settles what was in flight when the daemon ended: it returns to its stream, or ends dead with reason `ambiguous`
    /// at the endpoints where a second send would count twice. Due times that a service's longest wish does not explain
    /// come from a wrong clock and are brought back to that. Called once, before anything is claimed.
    package func recover(
        atMostOnceEndpoints: Set<String>, now: ClockReading
    ) throws(StoreError) -> RecoveryReport {
        let wall = now.wallMilliseconds
        var report = RecoveryReport()
        report.held = try holdRestored(atMostOnceEndpoints: atMostOnceEndpoints)
        let interrupted = try database.rows(
            "\(DeliveryRow.select(using: "deliveries_sending")) WHERE d.state = 'sending' ORDER BY d.id", []
        ) { DeliveryRow($0) }
        for var row in interrupted {
            let claimed = try database.integer("SELECT claimed FROM deliveries WHERE id = ?1", SQLValue(row.id.number))
            try record(
                Attempt(
                    number: row.attempts + 1, startedMilliseconds: claimed ?? wall, durationMilliseconds: 0,
                    outcome: .interrupted, error: "the daemon ended before the answer came"), of: &row)
            row.isUnanswered = true
            if atMostOnceEndpoints.contains(try endpointName(row.endpoint)), row.pending != .discard {
                try giveUp(
                    &row, as: .dead, reason: .ambiguous,
                    message: "the daemon ended before the answer came, and a second send would count twice",
                    nowMilliseconds: wall)
                report.ambiguous += 1
            } else {
                row.isInBackoff = true
                row.dueMilliseconds = min(row.dueMilliseconds, wall)
                try putBack(&row, nowMilliseconds: wall)
                report.returned += 1
            }
        }
        // What was replaced by something in flight may have come back.
        report.held += try holdRestored(atMostOnceEndpoints: atMostOnceEndpoints)
        try holdCopied()
        try forgetRestore()
        report.clamped = try database.run(
            "UPDATE deliveries INDEXED BY deliveries_due SET due = ?1 WHERE state = 'ready' AND due > ?1",
            SQLValue(wall + Self.maximumDelayMilliseconds))
        return report
    }

    /// Ends what is older than `maximumAgeMilliseconds` and not in flight, held or retried by an operator. Looks at no
    /// more than `limit` deliveries, the oldest first, beginning behind `after`.
    package func expire(
        endpoint: String, maximumAgeMilliseconds: Int64, limit: Int, after: DeliveryID? = nil, now: ClockReading
    ) throws(StoreError) -> ExpireReport {
        guard let endpointID = try endpointID(endpoint) else { return ExpireReport() }
        let looked = try database.rows(
            """
            SELECT d.id, e.wall, e.boot, e.boot_id, e.synchronized FROM deliveries d CROSS JOIN events e ON e.id = d.event
            WHERE d.endpoint = ?1 AND d.settled IS NULL AND d.id > ?2
            ORDER BY d.id LIMIT ?3
            """, [SQLValue(endpointID), SQLValue(after?.number ?? 0), SQLValue(limit)]
        ) { row -> (id: DeliveryID, age: Int64?) in
            let recorded = ClockReading(
                wallMilliseconds: row.integer(1), bootMilliseconds: row.integer(2), monotonicMilliseconds: 0,
                bootID: row.text(3), isSynchronized: row.flag(4))
            return (DeliveryID(row.integer(0)), EventAge.milliseconds(from: recorded, to: now))
        }
        var report = ExpireReport()
        for (id, age) in looked {
            guard let age else { continue }
            // Deliveries are in the order in which events were recorded, so that all behind a young one are young.
            if age <= maximumAgeMilliseconds { return report }
            guard var row = try row(id), row.state == .waiting || row.state == .ready, !row.ignoresAge else { continue }
            try giveUp(
                &row, as: .dead, reason: .expired,
                message: "older than the endpoint's maximum age; retry sends it whatever its age",
                nowMilliseconds: now.wallMilliseconds)
            report.expired += 1
        }
        if looked.count == limit { report.next = looked.last?.id }
        return report
    }

    /// How many deliveries a step of a long operation changes.
    static let stepDeliveries = 200
    /// How many deliveries a step holds or releases after a change of the configuration.
    static let reconciledPerStep = 2_000

    /// Holds what belongs to a game or endpoint outside the configuration, and releases what came back. Returns
    /// whether there is more to do; then the caller calls again.
    package func reconcile(games: Set<String>, endpoints: Set<String>, now: ClockReading) throws(StoreError) -> Bool {
        let ways = try database.rows(
            """
            SELECT DISTINCT s.game, s.endpoint, p.name FROM standing s CROSS JOIN endpoints p ON p.id = s.endpoint
            """, []
        ) { (game: $0.text(0), endpoint: $0.integer(1), name: $0.text(2)) }
        let isConfigured: (String, String) -> Bool = { games.contains($0) && endpoints.contains($1) }
        var left = Self.reconciledPerStep
        for way in ways where !isConfigured(way.game, way.name) {
            let going = try database.rows(
                """
                SELECT d.id FROM standing s CROSS JOIN deliveries d ON d.stream = s.id
                WHERE s.game = ?1 AND s.endpoint = ?2 AND d.state IN ('waiting', 'ready', 'sending')
                    AND d.settled IS NULL AND d.pending IS NULL
                LIMIT ?3
                """, [SQLValue(way.game), SQLValue(way.endpoint), SQLValue(left)]
            ) { DeliveryID($0.integer(0)) }
            for id in going { try setConfigured(false, id, now: now) }
            left -= going.count
            if left <= 0 { return true }
        }
        let read: (Statement) -> DeliveryID? = { row in
            isConfigured(row.text(1), row.text(2)) ? DeliveryID(row.integer(0)) : nil
        }
        var back = try database.rows(
            """
            SELECT d.id, e.game, p.name FROM deliveries d INDEXED BY deliveries_kept
                CROSS JOIN events e ON e.id = d.event CROSS JOIN endpoints p ON p.id = d.endpoint
            WHERE d.state = 'held' AND d.reason = 'unconfigured' ORDER BY d.id
            """, [], limit: left, read: read)
        back += try database.rows(
            """
            SELECT d.id, e.game, p.name FROM deliveries d INDEXED BY deliveries_sending
                CROSS JOIN events e ON e.id = d.event CROSS JOIN endpoints p ON p.id = d.endpoint
            WHERE d.state = 'sending' AND d.pending = 'unconfigured'
            """, [], read: read)
        for id in back { try setConfigured(true, id, now: now) }
        return back.count >= left
    }

    private func setConfigured(_ isConfigured: Bool, _ id: DeliveryID, now: ClockReading) throws(StoreError) {
        // Read again, because an earlier one of the step may have replaced it.
        guard var row = try row(id), row.state.isUnsettled else { return }
        if row.state == .sending {
            row.pending = isConfigured ? nil : .unconfigured
            return try write(row, expecting: .sending)
        }
        let wall = now.wallMilliseconds
        if isConfigured {
            try move(&row, to: .waiting, nowMilliseconds: wall)
            try settleStream(row.stream, nowMilliseconds: wall)
        } else {
            try move(&row, to: .held, reason: .unconfigured, nowMilliseconds: wall)
        }
    }
}
