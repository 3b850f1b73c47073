import KleosModel

extension Outbox {
    /// How many held deliveries and events are looked at, so that a question costs the same whatever the backlog.
    private static let lookedAt = 1_000
    private static let oldestSQL = SQL("SELECT q.id FROM queue q WHERE q.id > ?1 ORDER BY q.id LIMIT ?2")
    private static let heldSQL = SQL("SELECT q.id, q.reason FROM queue q WHERE q.state = 2 ORDER BY q.id LIMIT ?1")
    private static let latestSQL = SQL(
        """
        SELECT max(wall) FROM (SELECT wall, synchronized FROM events ORDER BY id DESC LIMIT ?1) WHERE synchronized = 1
        """)
    private static let newestSQL = SQL("SELECT wall FROM events ORDER BY id DESC LIMIT 1")
    private static let confirmedSQL = SQL("UPDATE endpoints SET fingerprint = ?2, last_success = ?3 WHERE id = ?1")
    private static let pauseSQL = SQL(
        "UPDATE endpoints SET pause_reason = ?2, paused_since = coalesce(paused_since, ?3) WHERE id = ?1")
    private static let resumeSQL = SQL("UPDATE endpoints SET pause_reason = NULL, paused_since = NULL WHERE id = ?1")

    /// How much there is; read from counters, whatever the backlog.
    package func status() throws(StoreError) -> OutboxCounters {
        var status = OutboxCounters()
        let counts = try counters.all(.deliveries)
        let rows = try endpoints.all()
        for row in rows {
            var endpoint = OutboxCounters.Endpoint(name: row.name)
            for state in DeliveryState.allCases {
                let count = counts[.deliveries(row.number, state)] ?? 0
                if count > 0 { endpoint.counts[state] = Int(count) }
            }
            let flying = flights.count(endpoint: row.number)
            if flying > 0 {
                endpoint.counts[.sending] = flying
                let ready = endpoint.counts[.ready, default: 0] - flying
                endpoint.counts[.ready] = ready > 0 ? ready : nil
            }
            status.endpoints.append(endpoint)
        }
        try addOldest(to: &status, rows)
        try addHeldReasons(to: &status, rows)
        status.latestRecordedMilliseconds = try latestRecorded()
        status.pendingNotices = Int(try counters.value(.pendingNotices))
        status.forgottenEvents = Int(try counters.value(.forgottenEvents))
        status.removedDead = Int(try counters.value(.removedDead))
        status.removedReceipts = Int(try counters.value(.removedReceipts))
        return status
    }

    /// The oldest of what is under way at each endpoint, among the first that are looked at.
    private func addOldest(to status: inout OutboxCounters, _ rows: [EndpointRow]) throws(StoreError) {
        let ids = try database.rows(Self.oldestSQL, [0, SQLValue(Self.lookedAt)]) { DeliveryID($0.integer(0)) }
        for (index, row) in rows.enumerated() {
            guard let oldest = ids.first(where: { $0.endpoint == row.number }) else { continue }
            status.endpoints[index].oldestUndeliveredMilliseconds = try events.row(oldest.event)?.wall
        }
    }

    private func addHeldReasons(to status: inout OutboxCounters, _ rows: [EndpointRow]) throws(StoreError) {
        let held = try database.rows(Self.heldSQL, [SQLValue(Self.lookedAt)]) { row in
            (DeliveryID(row.integer(0)).endpoint, DeliveryReason(row.value(1)))
        }
        for (index, row) in rows.enumerated() {
            let reasons = Set(held.compactMap { $0.0 == row.number ? $0.1 : nil })
            status.endpoints[index].heldReasons = reasons.sorted { $0.rawValue < $1.rawValue }
        }
    }

    /// The latest moment that is recorded and that a disciplined clock told, or that of the newest event: one that a
    /// clock set wrong told proves nothing once another came after it.
    private func latestRecorded() throws(StoreError) -> Int64? {
        let event = try database.integer(Self.latestSQL, SQLValue(Self.lookedAt))
        let newest = try database.integer(Self.newestSQL)
        return [event, newest].compactMap(\.self).max()
    }

    /// What is remembered about the endpoint `name`; empty where nothing is.
    package func endpointRecord(_ name: String) throws(StoreError) -> EndpointRecord {
        guard let row = try endpoints.row(name) else { return EndpointRecord(name: name) }
        return EndpointRecord(
            name: name, confirmedFingerprint: row.fingerprint, lastSuccessMilliseconds: row.lastSuccess,
            pausedReason: row.pauseReason, pausedSinceMilliseconds: row.pausedSince)
    }

    /// Remembers that the endpoint confirmed something with the settings that `fingerprint` stands for.
    package func markConfirmed(endpoint: String, fingerprint: String, nowMilliseconds: Int64) throws(StoreError) {
        let id = try endpoints.makeID(endpoint)
        try database.run(Self.confirmedSQL, SQLValue(id), SQLValue(fingerprint), SQLValue(nowMilliseconds))
    }

    /// Remembers a pause of the endpoint; one that is there keeps its time.
    package func setPause(endpoint: String, reason: String, nowMilliseconds: Int64) throws(StoreError) {
        let id = try endpoints.makeID(endpoint)
        try database.run(Self.pauseSQL, SQLValue(id), SQLValue(reason), SQLValue(nowMilliseconds))
    }

    /// Forgets a pause; does nothing where there is none.
    package func clearPause(endpoint: String) throws(StoreError) {
        guard let id = try endpoints.id(endpoint) else { return }
        try database.run(Self.resumeSQL, SQLValue(id))
    }
}
