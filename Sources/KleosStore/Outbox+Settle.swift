package import KleosModel
package import KleosSupport

extension Outbox {
    /// Records an attempt at a delivery in flight and does what `settlement` says. The attempt's number is given by the
    /// outbox. `mayHaveTakenEffect` says that the service may have acted on it although no complete answer came.
    package func settle(
        _ id: DeliveryID, attempt: Attempt, settlement: Settlement, mayHaveTakenEffect: Bool, now: ClockReading
    ) throws(StoreError) -> SettleResult {
        guard var row = try row(id), row.state == .sending else {
            let state = try self.row(id)?.state ?? .discarded
            return SettleResult(state: state, isStale: true)
        }
        try record(attempt, of: &row)
        if mayHaveTakenEffect { row.isUnanswered = true }
        let wall = now.wallMilliseconds
        switch settlement {
        case .delivered(let confirmation, let draft):
            let notice = try deliver(&row, confirmation, draft, nowMilliseconds: wall)
            return SettleResult(state: row.state, notice: notice)
        case .retry(let dueMilliseconds, let isServerError):
            row.dueMilliseconds = dueMilliseconds
            row.isInBackoff = true
            if isServerError { row.serverErrors += 1 }
            try putBack(&row, nowMilliseconds: wall)
        case .dead(let reason, let message):
            let isDiscarded = row.pending == .discard
            try giveUp(
                &row, as: isDiscarded ? .discarded : .dead, reason: isDiscarded ? nil : reason, message: message,
                nowMilliseconds: wall)
        }
        return try result(for: id)
    }

    private func result(for id: DeliveryID) throws(StoreError) -> SettleResult {
        let result = try database.first(
            """
            SELECT d.state, e.key FROM deliveries d
            LEFT JOIN deliveries s ON s.id = d.superseded_by LEFT JOIN events e ON e.id = s.event
            WHERE d.id = ?1
            """, SQLValue(id.number)
        ) { row in
            SettleResult(
                state: DeliveryState(row, 0), supersededBy: row.isNull(1) ? nil : EventKey(row, 1))
        }
        return result ?? SettleResult(state: .discarded, isStale: true)
    }

    /// How many attempts are kept from the beginning and from the end.
    static let attemptsKeptAtEachEnd = 10

    /// Writes an attempt and drops the one that is neither among the first nor the last any more.
    func record(_ attempt: Attempt, of row: inout DeliveryRow) throws(StoreError) {
        row.attempts += 1
        try database.run(
            """
            INSERT INTO attempts(delivery, number, started, duration, outcome, status, error, answer)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            SQLValue(row.id.number), SQLValue(row.attempts), SQLValue(attempt.startedMilliseconds),
            SQLValue(attempt.durationMilliseconds), SQLValue(attempt.outcome.rawValue),
            SQLValue(attempt.status.map { Int64($0) }), SQLValue(attempt.error), SQLValue(attempt.answer))
        let kept = Self.attemptsKeptAtEachEnd
        guard row.attempts > 2 * kept else { return }
        try database.run(
            "DELETE FROM attempts WHERE delivery = ?1 AND number = ?2", SQLValue(row.id.number),
            SQLValue(row.attempts - kept))
    }

    private func deliver(
        _ row: inout DeliveryRow, _ confirmation: Confirmation, _ draft: NoticeDraft?, nowMilliseconds: Int64
    ) throws(StoreError) -> Notice? {
        try move(&row, to: .delivered, nowMilliseconds: nowMilliseconds)
        try database.run(
            "UPDATE deliveries SET rank = ?2, best = ?3, changed = ?4, unlocked = ?5 WHERE id = ?1 AND state = 'delivered'",
            SQLValue(row.id.number), SQLValue(confirmation.rank), SQLValue(confirmation.best),
            SQLValue(confirmation.changed), SQLValue(confirmation.unlocked))
        try database.run("DELETE FROM renderings WHERE delivery = ?1", SQLValue(row.id.number))
        if row.merge != .none, let event = try event(row.event) {
            try confirm(event, merge: row.merge, rank: confirmation.rank, stream: row.stream)
            try refreshPendingMark(of: row.stream)
        }
        let notice = try draft.flatMap { (draft) throws(StoreError) in
            try makeNotice(draft, for: row, nowMilliseconds: nowMilliseconds)
        }
        try settleStream(after: row, nowMilliseconds: nowMilliseconds)
        return notice
    }

    /// Reads an event.
    func event(_ id: Int64) throws(StoreError) -> Event? {
        try database.first("SELECT \(Event.columns) FROM events e WHERE e.id = ?1", SQLValue(id)) { Event($0) }
    }

    /// Makes the notice that `row` decides about: the last of the event's confirming deliveries to be delivered.
    private func makeNotice(
        _ draft: NoticeDraft, for row: DeliveryRow, nowMilliseconds: Int64
    ) throws(StoreError) -> Notice? {
        guard row.confirms else { return nil }
        let facts = draft.facts
        let open = try database.integer(
            "SELECT 1 FROM deliveries WHERE event = ?1 AND confirms = 1 AND state != 'delivered' LIMIT 1",
            SQLValue(row.event))
        guard open == nil else { return nil }
        if case .known = draft {
            guard try mayBeUntold(row), try !wasTold(facts, to: row) else { return nil }
        }
        try database.run(
            """
            INSERT INTO notices(key, game, player, uid, kind, item, amount, decimals, rank, changed, created)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """,
            SQLValue(row.key.bytes), SQLValue(row.game), SQLValue(row.player), SQLValue(row.uid),
            SQLValue(facts.kind.rawValue), SQLValue(facts.item), SQLValue(facts.value?.units),
            SQLValue(facts.value.map { Int64($0.decimals) }), SQLValue(facts.rank), SQLValue(facts.changed),
            SQLValue(nowMilliseconds))
        let notice = Notice(
            number: database.lastRowID, key: row.key, game: row.game, player: row.player, uid: row.uid, facts: facts,
            createdMilliseconds: nowMilliseconds)
        effects.counts[.pendingNotices, default: 0] += 1
        effects.changes.notices.append(notice)
        return notice
    }

    private func wasTold(_ facts: NoticeFacts, to row: DeliveryRow) throws(StoreError) -> Bool {
        try database.integer(
            "SELECT 1 FROM notices WHERE uid = ?1 AND game = ?2 AND player = ?3 AND kind = ?4 AND item = ?5 LIMIT 1",
            SQLValue(row.uid), SQLValue(row.game), SQLValue(row.player), SQLValue(facts.kind.rawValue),
            SQLValue(facts.item)) != nil
    }

    /// Whether the event, or one that gave way to it, unlocked something and was not told: at another service that has
    /// to confirm, or by a send whose answer never came.
    private func mayBeUntold(_ row: DeliveryRow) throws(StoreError) -> Bool {
        try database.integer(
            """
            WITH RECURSIVE given(event) AS (
                SELECT ?1 UNION
                SELECT s.event FROM given g JOIN deliveries w ON w.event = g.event
                JOIN deliveries s ON s.superseded_by = w.id
            )
            SELECT 1 FROM given g JOIN deliveries d ON d.event = g.event WHERE d.confirms = 1 AND (
                d.unanswered = 1 OR (d.state = 'delivered' AND d.unlocked = 1 AND d.changed IS NOT 0)
            ) LIMIT 1
            """, SQLValue(row.event)) != nil
    }
}
