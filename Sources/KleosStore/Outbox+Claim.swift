package import KleosModel
package import KleosSupport

extension Outbox {
    /// Takes at most `limit` deliveries that are due out of `endpoint`'s queue, the most important first, and at most
    /// one of each stream. Players and boards are excluded where they are throttled.
    package func claim(
        endpoint: String, limit: Int, nowMilliseconds: Int64, excludingPlayers: Set<String> = [],
        excludingBoards: Set<BoardKey> = []
    ) throws(StoreError) -> [Claim] {
        guard let endpointID = try endpointID(endpoint) else { return [] }
        var claims: [Claim] = []
        for priority in 0...2 where claims.count < limit {
            var streams: Set<Int64> = []
            let chosen = try database.rows(
                """
                SELECT d.id, d.stream, e.player, \(BoardKey.columns) FROM deliveries d CROSS JOIN events e ON e.id = d.event
                WHERE d.endpoint = ?1 AND d.priority = ?2 AND d.state = 'ready' AND d.due <= ?3
                    AND NOT EXISTS(SELECT 1 FROM deliveries s WHERE s.stream = d.stream AND s.state = 'sending')
                ORDER BY d.due, d.id
                """, [SQLValue(endpointID), SQLValue(priority), SQLValue(nowMilliseconds)],
                limit: limit - claims.count
            ) { row -> DeliveryID? in
                if !excludingPlayers.isEmpty, excludingPlayers.contains(row.text(2)) { return nil }
                if !excludingBoards.isEmpty, excludingBoards.contains(BoardKey(row, 3)) { return nil }
                return streams.insert(row.integer(1)).inserted ? DeliveryID(row.integer(0)) : nil
            }
            for id in chosen {
                if let claim = try claim(id, endpoint: endpoint, nowMilliseconds: nowMilliseconds) {
                    claims.append(claim)
                }
            }
        }
        return claims
    }

    private func claim(_ id: DeliveryID, endpoint: String, nowMilliseconds: Int64) throws(StoreError) -> Claim? {
        let found = try database.first(
            """
            SELECT \(DeliveryRow.columns), d.priority, r.bytes, d.claimed, \(Event.columns)
            FROM deliveries d CROSS JOIN events e ON e.id = d.event LEFT JOIN renderings r ON r.delivery = d.id
            WHERE d.id = ?1
            """, SQLValue(id.number)
        ) { row in
            (DeliveryRow(row), row.integer(27), row.optionalBytes(28), row.optionalInteger(29), Event(row, offset: 30))
        }
        guard let (row, priority, rendering, lastClaimed, event) = found else { return nil }
        let changed = try database.run(
            "UPDATE deliveries SET state = 'sending', backoff = 0, claimed = ?2 WHERE id = ?1 AND state = 'ready'",
            SQLValue(id.number), SQLValue(nowMilliseconds))
        guard changed == 1 else { return nil }
        var sending = row
        sending.state = .sending
        try record(sending, from: .ready)
        return Claim(
            id: id, event: event,
            stream: StreamKey(
                endpoint: endpoint, game: event.game, player: event.player, kind: event.subject.kind,
                item: event.subject.item),
            merge: row.merge, isStrict: row.isStrict,
            priority: DeliveryPriority(rawValue: Int(priority)) ?? .counter, confirms: row.confirms,
            attemptsMade: row.attempts, backoffAttempts: row.backoffAttempts, serverErrors: row.serverErrors,
            lastClaimedMilliseconds: lastClaimed, mayHaveTakenEffect: row.isUnanswered, rendering: rendering,
            ignoresAge: row.ignoresAge,
            createdMilliseconds: event.recorded.wallMilliseconds)
    }

    /// Keeps the first rendering of a delivery; a later one changes nothing.
    package func saveRendering(_ bytes: [UInt8], for id: DeliveryID) throws(StoreError) {
        try database.run(
            "INSERT INTO renderings(delivery, bytes) VALUES(?1, ?2) ON CONFLICT DO NOTHING", SQLValue(id.number),
            SQLValue(bytes))
    }

    /// Returns a claimed delivery that was not sent, with its due time as it was; no attempt is recorded. What an
    /// operator decided about it meanwhile takes effect. Does nothing where it is not in flight.
    package func giveBack(_ id: DeliveryID, now: ClockReading) throws(StoreError) {
        guard var row = try row(id), row.state == .sending else { return }
        row.isInBackoff = row.attempts > 0
        try putBack(&row, nowMilliseconds: now.wallMilliseconds)
    }

    /// Holds a claimed delivery that was not sent because its game is not in the configuration, until it is. What an
    /// operator decided about it meanwhile takes effect in place of that.
    package func holdUnconfigured(_ id: DeliveryID, now: ClockReading) throws(StoreError) {
        guard var row = try row(id), row.state == .sending else { return }
        row.pending = row.pending ?? .unconfigured
        try putBack(&row, nowMilliseconds: now.wallMilliseconds)
    }

    /// Returns what was in flight to its stream, or to where an operator wants it.
    func putBack(_ row: inout DeliveryRow, nowMilliseconds: Int64) throws(StoreError) {
        switch row.pending {
        case .discard:
            return try giveUp(&row, as: .discarded, reason: nil, message: nil, nowMilliseconds: nowMilliseconds)
        case .hold: try move(&row, to: .held, reason: .operatorHold, nowMilliseconds: nowMilliseconds)
        case .unconfigured: try move(&row, to: .held, reason: .unconfigured, nowMilliseconds: nowMilliseconds)
        case nil: try move(&row, to: .ready, nowMilliseconds: nowMilliseconds)
        }
        try settleStream(after: row, nowMilliseconds: nowMilliseconds)
    }

    /// When the next delivery that can be claimed is due, Unix milliseconds; nil where there is none. What waits for
    /// another of its stream to come back is not counted.
    package func nextDueMilliseconds(
        endpoint: String, excludingPlayers: Set<String> = [], excludingBoards: Set<BoardKey> = []
    ) throws(StoreError) -> Int64? {
        guard let endpointID = try endpointID(endpoint) else { return nil }
        var earliest: Int64?
        for priority in 0...2 {
            let due = try database.rows(
                """
                SELECT d.due, e.player, \(BoardKey.columns) FROM deliveries d CROSS JOIN events e ON e.id = d.event
                WHERE d.endpoint = ?1 AND d.priority = ?2 AND d.state = 'ready'
                    AND NOT EXISTS(SELECT 1 FROM deliveries s WHERE s.stream = d.stream AND s.state = 'sending')
                ORDER BY d.due, d.id
                """, [SQLValue(endpointID), SQLValue(priority)], limit: 1
            ) { row -> Int64? in
                if !excludingPlayers.isEmpty, excludingPlayers.contains(row.text(1)) { return nil }
                if !excludingBoards.isEmpty, excludingBoards.contains(BoardKey(row, 2)) { return nil }
                return row.integer(0)
            }
            if let due = due.first { earliest = min(earliest ?? due, due) }
        }
        return earliest
    }

    /// Makes everything that is ready at `endpoint` due now.
    package func bringForward(endpoint: String, nowMilliseconds: Int64) throws(StoreError) {
        guard let endpointID = try endpointID(endpoint) else { return }
        for priority in 0...2 {
            let changed = try database.run(
                """
                UPDATE deliveries SET due = ?3
                WHERE endpoint = ?1 AND priority = ?2 AND state = 'ready' AND due > ?3
                """, SQLValue(endpointID), SQLValue(priority), SQLValue(nowMilliseconds))
            if changed > 0 { effects.changes.readyEndpoints.insert(endpoint) }
        }
    }
}
