package import KleosModel
package import KleosSupport

extension Outbox {
    /// How many deliveries a step of a long operation changes.
    static let stepDeliveries = 200

    /// Settles what was in flight when the daemon ended: it returns to its stream, or ends dead with reason `ambiguous`
    /// at the endpoints where a second send would count twice. Called once, before anything is claimed.
    package func recover(
        atMostOnceEndpoints: Set<String>, now: ClockReading
    ) throws(StoreError) -> RecoveryReport {
        var report = RecoveryReport()
        report.held = try holdRestored(atMostOnceEndpoints: atMostOnceEndpoints)
        for number in flights.deliveries {
            guard let row = try deliveries.queued(DeliveryID(number)) else {
                try flights.land(number, isBack: false)
                continue
            }
            let isAtMostOnce = atMostOnceEndpoints.contains(try endpoints.name(row.id.endpoint))
            try interrupt(row, isAtMostOnce: isAtMostOnce, &report, now: now)
        }
        try flights.clear()
        // What was replaced by something in flight may have come back.
        report.held += try holdRestored(atMostOnceEndpoints: atMostOnceEndpoints)
        try holdCopied()
        try forgetRestore()
        report.clamped = try clampDueTimes(now: now)
        return report
    }

    private func interrupt(
        _ row: DeliveryRow, isAtMostOnce: Bool, _ report: inout RecoveryReport, now: ClockReading
    ) throws(StoreError) {
        var row = row
        row.attempts += 1
        row.isUnanswered = true
        row.letter = try letter(of: row)
        let attempt = Attempt(
            number: row.attempts,
            startedMilliseconds: flights.claimed(row.id.number) ?? now.wallMilliseconds, durationMilliseconds: 0,
            outcome: .interrupted, error: "the daemon ended before the answer came")
        if isAtMostOnce, row.pending != .discard {
            row.last = attempt
            try giveUp(
                &row, as: .dead, reason: .ambiguous,
                message: "the daemon ended before the answer came, and a second send would count twice", now: now)
            report.ambiguous += 1
        } else {
            try deliveries.add(attempt, to: row.id)
            row.due = now.wallMilliseconds
            try putBack(&row, now: now)
            report.returned += 1
        }
    }

    private static let clampSQL = SQL(
        "UPDATE queue SET due = ?3 WHERE lane = ?1 AND weight = ?2 AND due IS NOT NULL AND due > ?3")

    /// Due times that a service's longest wish does not explain come from a wrong clock and are brought back to that.
    private func clampDueTimes(now: ClockReading) throws(StoreError) -> Int {
        var clamped = 0
        let latest = now.wallMilliseconds + Self.maximumDelayMilliseconds
        for endpoint in try endpoints.all() {
            for lane in try endpoints.lanes(of: endpoint.number) {
                for weight in 0...2 {
                    clamped += try database.run(Self.clampSQL, SQLValue(lane), SQLValue(weight), SQLValue(latest))
                }
            }
        }
        return clamped
    }

    private static let openOfEndpointSQL = SQL(
        """
        \(Deliveries.selectQueue) WHERE q.id > ?1 ORDER BY q.id LIMIT ?2
        """)

    /// Ends what is older than `maximumAgeMilliseconds` and not in flight, held or retried by an operator. Looks at no
    /// more than `limit` deliveries, the oldest first, beginning behind `after`.
    package func expire(
        endpoint: String, maximumAgeMilliseconds: Int64, limit: Int, after: DeliveryID? = nil, now: ClockReading
    ) throws(StoreError) -> ExpireReport {
        guard let endpointID = try endpoints.id(endpoint) else { return ExpireReport() }
        let looked = try database.rows(
            Self.openOfEndpointSQL, [SQLValue(after?.number ?? 0), SQLValue(limit)]
        ) { deliveries.queued($0) }
        var report = ExpireReport()
        for found in looked where found.id.endpoint == endpointID {
            let recorded = try events.event(found.event).recorded
            guard let age = EventAge.milliseconds(from: recorded, to: now) else { continue }
            // Deliveries are in the order in which events were recorded, so that all behind a young one are young.
            if age <= maximumAgeMilliseconds { return report }
            guard var row = try deliveries.queued(found.id), row.state == .waiting || row.state == .ready,
                !row.ignoresAge
            else { continue }
            try giveUp(
                &row, as: .dead, reason: .expired,
                message: "older than the endpoint's maximum age; retry sends it whatever its age", now: now)
            report.expired += 1
        }
        if looked.count == limit { report.next = looked.last?.id }
        return report
    }
}
