package import KleosModel
package import KleosSupport

extension Outbox {
    /// Records an attempt at a delivery in flight and does what `settlement` says. The attempt's number is given by the
    /// outbox. `mayHaveTakenEffect` says that the service may have acted on it although no complete answer came.
    package func settle(
        _ id: DeliveryID, attempt: Attempt, settlement: Settlement, mayHaveTakenEffect: Bool, now: ClockReading
    ) throws(StoreError) -> SettleResult {
        guard var row = try deliveries.queued(id), row.state == .sending else {
            let state = try deliveries.row(id)?.state ?? .discarded
            return SettleResult(state: state, isStale: true)
        }
        row.attempts += 1
        var attempt = attempt
        attempt.number = row.attempts
        if mayHaveTakenEffect { row.isUnanswered = true }
        switch settlement {
        case .delivered(let confirmation, let draft):
            row.last = attempt
            row.letter = nil
            let notice = try deliver(&row, confirmation, draft, now: now)
            return SettleResult(state: row.state, notice: notice)
        case .retry(let dueMilliseconds, let isServerError):
            try deliveries.add(attempt, to: id)
            row.letter = try letter(of: row)
            row.due = min(dueMilliseconds, now.wallMilliseconds + Self.maximumDelayMilliseconds)
            if isServerError { row.serverErrors += 1 }
            try putBack(&row, now: now)
        case .dead(let reason, let message):
            row.last = attempt
            row.letter = try letter(of: row)
            let isDiscarded = row.pending == .discard
            try giveUp(
                &row, as: isDiscarded ? .discarded : .dead, reason: isDiscarded ? nil : reason, message: message,
                now: now)
        }
        return SettleResult(state: try deliveries.row(id)?.state ?? row.state)
    }

    /// The letter that a delivery in flight goes out with again.
    func letter(of row: DeliveryRow) throws(StoreError) -> [UInt8]? {
        if let letter = row.letter { return letter }
        return try flights.letter(of: row.id.number)
    }

    private func deliver(
        _ row: inout DeliveryRow, _ confirmation: Confirmation, _ draft: NoticeDraft?, now: ClockReading
    ) throws(StoreError) -> Notice? {
        row.confirmation = confirmation
        try move(&row, to: .delivered, now: now)
        let notice = try draft.flatMap { (draft) throws(StoreError) in try makeNotice(draft, for: row, now: now) }
        if draft != nil, notice == nil { try rememberUntold(row) }
        guard row.isOrdered else { return notice }
        if row.merge != .none {
            var stream = try streams.named(row.stream)
            stream.settle(row)
            confirm(try events.event(row.event), merge: row.merge, rank: confirmation.rank, stream: &stream)
            stream.pending = try pendingMark(of: stream)
            try streams.write(stream)
        }
        try settleStream(after: row, now: now)
        return notice
    }

    /// Makes the notice that `row` decides about: the last of the event's confirming deliveries to be delivered.
    private func makeNotice(_ draft: NoticeDraft, for row: DeliveryRow, now: ClockReading) throws(StoreError) -> Notice?
    {
        guard row.confirms else { return nil }
        let facts = draft.facts
        let confirming = try deliveries.rows(ofEvent: row.event.number).filter(\.confirms)
        guard confirming.allSatisfy({ $0.state == .delivered }) else { return nil }
        if case .known = draft {
            guard try mayBeUntold(confirming), try !wasTold(facts, to: row) else { return nil }
        }
        let notice = Notice(
            number: try counters.value(.lastNotice) + 1, key: row.key, game: row.game, player: row.player, uid: row.uid,
            facts: facts, createdMilliseconds: now.wallMilliseconds)
        try add(notice)
        changes.notices.append(notice)
        for delivery in confirming { try streams.setUntold(false, of: delivery.stream) }
        return notice
    }

    /// Whether a delivery that gives way, or is confirmed without a notice, may have unlocked something that was not
    /// told: by a send whose answer never came, or at another service that has to confirm.
    func mayHaveUnlocked(_ row: DeliveryRow) throws(StoreError) -> Bool {
        guard row.confirms else { return false }
        if row.isUnanswered { return true }
        guard row.event.kind == .achievement else { return false }
        return try deliveries.rows(ofEvent: row.event.number).contains { $0.confirms && Self.isNews($0) }
    }

    private static func isNews(_ row: DeliveryRow) -> Bool {
        row.state == .delivered && row.confirmation.unlocked == true && row.confirmation.changed != false
    }

    private func mayBeUntold(_ confirming: [DeliveryRow]) throws(StoreError) -> Bool {
        for row in confirming {
            if row.isUnanswered || Self.isNews(row) { return true }
            if try streams.named(row.stream).isUntold { return true }
        }
        return false
    }

    /// What was news here cannot be told where the event's other deliveries gave way: the streams in which they did
    /// remember it.
    private func rememberUntold(_ row: DeliveryRow) throws(StoreError) {
        guard row.confirms, Self.isNews(row) else { return }
        for other in try deliveries.rows(ofEvent: row.event.number)
        where other.confirms && other.state == .superseded {
            try streams.setUntold(true, of: other.stream)
        }
    }
}
