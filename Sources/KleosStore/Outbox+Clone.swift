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
    func newestCopiedEvent() throws(StoreError) -> Int64? { try meta(.copiedEvents).flatMap { Int64($0) } }

    /// The newest notice of the other machine, likewise; 0 where nothing is to be said.
    func newestCopiedNotice() throws(StoreError) -> Int64 { try meta(.copiedNotices).flatMap { Int64($0) } ?? 0 }

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
        guard let known = try meta(.machine) else {
            try setMeta(.machine, options.machineID)
            return false
        }
        if known != options.machineID, try meta(.heldOn) != options.machineID {
            try setMeta(.heldOn, options.machineID)
            try setMeta(.copiedEvents, String(try lastEvent()))
            let notice = try database.integer("SELECT max(number) FROM notices") ?? 0
            try setMeta(.copiedNotices, String(notice))
            try holdCopied()
        }
        return try isClone()
    }

    /// Holds what of the other machine is under way, or would go on with another configuration than that one's.
    func holdCopied() throws(StoreError) {
        guard let newest = try newestCopiedEvent() else { return }
        _ = try hold(in: [.waiting, .ready], upToEvent: newest, reason: .clone)
        try database.run(
            "UPDATE deliveries SET reason = 'clone' WHERE state = 'held' AND reason = 'unconfigured' AND event <= ?1",
            SQLValue(newest))
    }

    /// Keeps the mark at an event that is there, now that `event` is removed: else a new event would get its number.
    func forgetCopied(event: Int64) throws(StoreError) {
        try database.run(
            """
            UPDATE meta SET value = coalesce((SELECT max(id) FROM events WHERE id < ?1), 0)
            WHERE name = ?2 AND value = CAST(?1 AS TEXT)
            """, SQLValue(event), SQLValue(MetaName.copiedEvents.rawValue))
    }

    /// Makes this machine the owner of a database that came from another one, and releases what is held for that. One
    /// step; the caller goes on while there is more to do. Until the last one it stays a clone.
    package func adopt(now: ClockReading) throws(StoreError) -> CloneStep {
        let held = try database.rows(
            """
            SELECT id FROM deliveries INDEXED BY deliveries_kept WHERE state = 'held' AND reason = 'clone'
            ORDER BY id LIMIT ?1
            """, [SQLValue(Self.stepDeliveries)]
        ) { DeliveryID($0.integer(0)) }
        for id in held {
            guard var row = try row(id), row.state == .held else { continue }
            try move(&row, to: .waiting, nowMilliseconds: now.wallMilliseconds)
            try settleStream(row.stream, nowMilliseconds: now.wallMilliseconds)
        }
        let step = CloneStep(changed: held.count, hasMore: held.count == Self.stepDeliveries)
        if !step.hasMore {
            let newest = try newestCopiedNotice()
            effects.changes.notices += try notices(NoticeQuery(isPendingOnly: true)).filter { $0.number <= newest }
            try endClone()
        }
        return step
    }

    /// Makes this machine the owner of a database whose original goes on elsewhere: throws away what the other machine
    /// sends, or has its operator to decide about, with all that it would replace, and does not show its notices. One
    /// step, as `adopt`.
    package func reset(now: ClockReading) throws(StoreError) -> CloneStep {
        let newest = try newestCopiedEvent() ?? 0
        let found = try database.rows(
            """
            SELECT id FROM deliveries INDEXED BY deliveries_kept
            WHERE (state = 'dead' OR state = 'held') AND (event <= ?1 OR (state = 'held' AND reason = 'clone'))
            ORDER BY id LIMIT ?2
            """, [SQLValue(newest), SQLValue(Self.stepDeliveries)]
        ) { DeliveryID($0.integer(0)) }
        var step = CloneStep(changed: 0, hasMore: found.count == Self.stepDeliveries)
        var left = found
        var streams: Set<Int64> = []
        while let id = left.popLast() {
            guard var row = try row(id) else { continue }
            left += try discardCopied(&row, newest: newest, nowMilliseconds: now.wallMilliseconds)
            streams.insert(row.stream)
            step.changed += 1
        }
        for stream in streams.sorted() {
            try settleStream(stream, nowMilliseconds: now.wallMilliseconds)
            try refreshPendingMark(of: stream)
        }
        if !step.hasMore {
            try settleNotices(upTo: try newestCopiedNotice(), route: "reset", now: now)
            try endClone()
        }
        return step
    }

    /// Returns what `row` had replaced and goes as well; what of this machine it had replaced comes back.
    private func discardCopied(
        _ row: inout DeliveryRow, newest: Int64, nowMilliseconds: Int64
    ) throws(StoreError) -> [DeliveryID] {
        let replaced = try database.rows(
            "SELECT id FROM deliveries WHERE superseded_by = ?1 AND event <= ?2",
            [SQLValue(row.id.number), SQLValue(newest)]
        ) { DeliveryID($0.integer(0)) }
        try database.run(
            "UPDATE deliveries SET superseded_by = NULL WHERE superseded_by = ?1 AND event <= ?2",
            SQLValue(row.id.number), SQLValue(newest))
        try move(
            &row, to: .discarded, message: "the machine that the queue was copied from goes on with it",
            nowMilliseconds: nowMilliseconds)
        try restoreSuperseded(by: row, nowMilliseconds: nowMilliseconds)
        return replaced
    }

    private func endClone() throws(StoreError) {
        if !options.machineID.isEmpty { try setMeta(.machine, options.machineID) }
        try removeMeta(.copiedEvents)
        try removeMeta(.copiedNotices)
    }
}
