import KleosModel
package import KleosSupport

/// One step over what a clone holds.
package struct CloneStep: Sendable, Equatable {
    /// Deliveries.
    package var changed: Int
    package var hasMore: Bool
}

// A queue that was copied together with its machine: both have the same events, and only one may send them. What was
// there when the copy was first opened here is told by its numbers, and waits until somebody says whose it is. Numbers
// of events are given again once the newest event is removed, so that the mark goes back with it.
extension Outbox {
    /// The newest event of the other machine, while nobody said whose the queue is; nil where nothing is to be said.
    func newestCopiedEvent() throws(StoreError) -> Int64? { try database.meta(.copiedEvents).flatMap { Int64($0) } }

    /// The newest notice of the other machine, likewise; 0 where nothing is to be said.
    func newestCopiedNotice() throws(StoreError) -> Int64 {
        try database.meta(.copiedNotices).flatMap { Int64($0) } ?? 0
    }

    /// Whether `event` is the other machine's, and nobody said whose the queue is.
    func isCopied(_ event: Int64) throws(StoreError) -> Bool {
        guard let newest = try newestCopiedEvent() else { return false }
        return event <= newest
    }

    /// Whether the database came from another machine and nobody said whose it is.
    func isClone() throws(StoreError) -> Bool { try newestCopiedEvent() != nil }

    /// Remembers the machine in a new database. In one from another machine, holds everything that was under way there,
    /// once: what is submitted here goes its way. Returns whether something is waiting for `adopt` or `reset`.
    func checkMachine() throws(StoreError) -> Bool {
        guard !options.machineID.isEmpty else { return try isClone() }
        guard let known = try database.meta(.machine) else {
            try database.setMeta(.machine, options.machineID)
            return false
        }
        if known != options.machineID, try database.meta(.heldOn) != options.machineID {
            try database.setMeta(.heldOn, options.machineID)
            try database.setMeta(.copiedEvents, String(try events.last()))
            try database.setMeta(.copiedNotices, String(try counters.value(.lastNotice)))
            try holdCopied()
        }
        return try isClone()
    }

    /// Holds what of the other machine is under way, or would go on with another configuration than that one's.
    func holdCopied() throws(StoreError) {
        guard let newest = try newestCopiedEvent() else { return }
        let last = DeliveryNumber.range(event: newest).upperBound
        _ = try hold(upTo: last, endpoint: nil, reason: .clone)
        try database.run(Self.holdUnconfiguredSQL, SQLValue(last))
    }

    private static let holdUnconfiguredSQL = SQL(
        "UPDATE queue SET reason = \(DeliveryReason.clone.code) WHERE state = 2 AND reason = \(DeliveryReason.unconfigured.code) AND id <= ?1"
    )
    private static let forgetCopiedSQL = SQL(
        """
        UPDATE meta SET value = coalesce((SELECT max(id) FROM events WHERE id < ?1), 0)
        WHERE name = ?2 AND value = CAST(?1 AS TEXT)
        """)
    private static let heldCloneSQL = SQL(
        """
        \(Deliveries.selectQueue) WHERE q.state = 2 AND q.reason = \(DeliveryReason.clone.code) ORDER BY q.id LIMIT ?1
        """)
    private static let heldCopiedSQL = SQL(
        """
        \(Deliveries.selectQueue)
        WHERE q.state = 2 AND (q.id <= ?1 OR q.reason = \(DeliveryReason.clone.code)) ORDER BY q.id LIMIT ?2
        """)
    private static let deadCopiedSQL = SQL(
        "\(Deliveries.selectDone) WHERE d.state = 6 AND d.id <= ?1 ORDER BY d.id LIMIT ?2")
    private static let endContestSQL = SQL(
        "UPDATE done SET round = NULL, worth = NULL WHERE stream = ?1 AND round = ?2 AND round IS NOT NULL AND id <= ?3"
    )

    /// Keeps the mark at an event that is there, now that `event` is removed: else a new event would get its number.
    func forgetCopied(event: Int64) throws(StoreError) {
        try database.run(Self.forgetCopiedSQL, SQLValue(event), SQLValue(MetaName.copiedEvents.rawValue))
    }

    /// Makes this machine the owner of a database that came from another one, and releases what is held for that. One
    /// step; the caller goes on while there is more to do. Until the last one it stays a clone.
    package func adopt(now: ClockReading) throws(StoreError) -> CloneStep {
        let held = try database.rows(Self.heldCloneSQL, [SQLValue(Self.stepDeliveries)]) { deliveries.queued($0) }
        for found in held {
            guard var row = try deliveries.queued(found.id), row.state == .held else { continue }
            try move(&row, to: .waiting, now: now)
            try settleStream(after: row, now: now)
        }
        let step = CloneStep(changed: held.count, hasMore: held.count == Self.stepDeliveries)
        if !step.hasMore {
            let newest = try newestCopiedNotice()
            var query = NoticeQuery(isPendingOnly: true, limit: .max)
            while true {
                let page = try notices(query)
                changes.notices += page.notices.filter { $0.number <= newest }
                guard let next = page.next, next < newest else { break }
                query.afterNumber = next
            }
            try endClone()
        }
        return step
    }

    /// Makes this machine the owner of a database whose original goes on elsewhere: throws away what the other machine
    /// sends, or has its operator to decide about, with all that it would replace, and does not show its notices. One
    /// step, as `adopt`.
    package func reset(now: ClockReading) throws(StoreError) -> CloneStep {
        let newest = try newestCopiedEvent() ?? 0
        let last = DeliveryNumber.range(event: newest).upperBound
        let values = [SQLValue(last), SQLValue(Self.stepDeliveries)]
        var found = try database.rows(Self.heldCopiedSQL, values) { deliveries.queued($0) }
        found += try database.rows(Self.deadCopiedSQL, values) { deliveries.done($0) }
        var step = CloneStep(changed: 0, hasMore: found.count >= Self.stepDeliveries)
        for copied in found {
            guard var row = try deliveries.row(copied.id), row.state == .held || row.state == .dead else { continue }
            try move(
                &row, to: .discarded, message: "the machine that the queue was copied from goes on with it", now: now)
            step.changed += 1
            guard row.isOrdered else { continue }
            // What of this machine it had replaced comes back; what of the other one it had does not.
            try bringBackBest(row.stream, recordedAfter: newest, now: now)
            let stream = try streams.named(row.stream)
            try database.run(
                Self.endContestSQL, SQLValue(stream.number), SQLValue(stream.round), SQLValue(last))
            try settleStream(after: row, now: now)
            try refreshPendingMark(of: row.stream)
        }
        if !step.hasMore {
            step.hasMore = try settleNotices(upTo: try newestCopiedNotice(), route: "reset", now: now)
            if !step.hasMore { try endClone() }
        }
        return step
    }

    private func endClone() throws(StoreError) {
        if !options.machineID.isEmpty { try database.setMeta(.machine, options.machineID) }
        try database.removeMeta(.copiedEvents)
        try database.removeMeta(.copiedNotices)
    }
}
