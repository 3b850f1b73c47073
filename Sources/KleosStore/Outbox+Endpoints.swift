import KleosModel

extension Outbox {
    /// How much there is; read from counters, whatever the backlog.
    package func counters() throws(StoreError) -> OutboxCounters {
        let counts = try database.rows(
            """
            SELECT p.id, p.name, c.state, c.count FROM endpoints p LEFT JOIN counters c ON c.endpoint = p.id
            ORDER BY p.name, p.id
            """, []
        ) {
            (
                id: $0.integer(0), name: $0.text(1), state: $0.isNull(2) ? nil : DeliveryState($0, 2),
                count: Int($0.integer(3))
            )
        }
        var counters = OutboxCounters()
        var ids: [Int64] = []
        for row in counts {
            if ids.last != row.id {
                ids.append(row.id)
                counters.endpoints.append(OutboxCounters.Endpoint(name: row.name))
            }
            guard let state = row.state, row.count > 0 else { continue }
            counters.endpoints[ids.count - 1].counts[state] = row.count
        }
        // What the open transaction did is in the database only once it ends.
        for (key, count) in effects.counts where count != 0 {
            guard let index = ids.firstIndex(of: key.endpoint), let state = DeliveryState(rawValue: key.state) else {
                continue
            }
            let sum = counters.endpoints[index].counts[state, default: 0] + Int(count)
            counters.endpoints[index].counts[state] = sum > 0 ? sum : nil
        }
        for (index, id) in ids.enumerated() {
            counters.endpoints[index].oldestUndeliveredMilliseconds = try database.integer(
                """
                SELECT e.wall FROM deliveries d CROSS JOIN events e ON e.id = d.event
                WHERE d.endpoint = ?1 AND d.settled IS NULL ORDER BY d.id LIMIT 1
                """, SQLValue(id))
        }
        try addHeldReasons(to: &counters, ids)
        counters.latestRecordedMilliseconds = try latestRecorded()
        counters.pendingNotices = try count(.pendingNotices)
        counters.forgottenEvents = try count(.forgottenEvents)
        return counters
    }

    private func count(_ key: CounterKey) throws(StoreError) -> Int {
        let stored = try database.integer(
            "SELECT count FROM counters WHERE endpoint = ?1 AND state = ?2", SQLValue(key.endpoint), SQLValue(key.state)
        )
        return Int((stored ?? 0) + effects.counts[key, default: 0])
    }

    /// How many held deliveries and events are looked at, so that a question costs the same whatever the backlog.
    private static let lookedAt = 1_000

    private func addHeldReasons(to counters: inout OutboxCounters, _ ids: [Int64]) throws(StoreError) {
        let reasons = try database.rows(
            """
            SELECT DISTINCT endpoint, reason FROM (
                SELECT endpoint, reason FROM deliveries INDEXED BY deliveries_kept WHERE state = 'held'
                ORDER BY id LIMIT ?1)
            ORDER BY endpoint, reason
            """, [SQLValue(Self.lookedAt)]
        ) { (endpoint: $0.integer(0), reason: DeliveryReason(rawValue: $0.text(1))) }
        for (endpoint, reason) in reasons {
            guard let index = ids.firstIndex(of: endpoint), let reason else { continue }
            counters.endpoints[index].heldReasons.append(reason)
        }
    }

    private func latestRecorded() throws(StoreError) -> Int64? {
        let event = try database.integer(
            "SELECT max(wall) FROM (SELECT wall FROM events ORDER BY id DESC LIMIT ?1)", SQLValue(Self.lookedAt))
        let success = try database.integer("SELECT max(last_success) FROM endpoints")
        return [event, success].compactMap { $0 }.max()
    }

    /// What is remembered about the endpoint `name`; empty where nothing is.
    package func endpointRecord(_ name: String) throws(StoreError) -> EndpointRecord {
        let record = try database.first(
            """
            SELECT p.fingerprint, p.last_success, a.reason, a.since
            FROM endpoints p LEFT JOIN pauses a ON a.endpoint = p.id AND a.player = '' WHERE p.name = ?1
            """, SQLValue(name)
        ) { row in
            EndpointRecord(
                name: name, confirmedFingerprint: row.optionalText(0), lastSuccessMilliseconds: row.optionalInteger(1),
                pausedReason: row.optionalText(2), pausedSinceMilliseconds: row.optionalInteger(3))
        }
        return record ?? EndpointRecord(name: name)
    }

    /// Remembers that the endpoint confirmed something with the settings that `fingerprint` stands for.
    package func markConfirmed(endpoint: String, fingerprint: String, nowMilliseconds: Int64) throws(StoreError) {
        let id = try makeEndpointID(endpoint)
        try database.run(
            "UPDATE endpoints SET fingerprint = ?2, last_success = ?3 WHERE id = ?1", SQLValue(id),
            SQLValue(fingerprint), SQLValue(nowMilliseconds))
    }

    /// Remembers a pause of the endpoint, or of one player there; a pause that is there keeps its time.
    package func setPause(
        endpoint: String, player: String? = nil, reason: String, nowMilliseconds: Int64
    ) throws(StoreError) {
        let id = try makeEndpointID(endpoint)
        try database.run(
            """
            INSERT INTO pauses(endpoint, player, reason, since) VALUES(?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET reason = excluded.reason
            """, SQLValue(id), SQLValue(player ?? ""), SQLValue(reason), SQLValue(nowMilliseconds))
    }

    /// Forgets a pause; does nothing where there is none.
    package func clearPause(endpoint: String, player: String? = nil) throws(StoreError) {
        guard let id = try endpointID(endpoint) else { return }
        try database.run(
            "DELETE FROM pauses WHERE endpoint = ?1 AND player = ?2", SQLValue(id), SQLValue(player ?? ""))
    }

    /// All pauses, in the order of endpoints and players.
    package func pauses() throws(StoreError) -> [Pause] {
        try database.rows(
            """
            SELECT p.name, a.player, a.reason, a.since FROM pauses a CROSS JOIN endpoints p ON p.id = a.endpoint
            ORDER BY p.name, a.player
            """, []
        ) { row in
            let player = row.text(1)
            return Pause(
                endpoint: row.text(0), player: player.isEmpty ? nil : player, reason: row.text(2),
                sinceMilliseconds: row.integer(3))
        }
    }
}
