import KleosModel
package import KleosSupport

/// Whose events are erased.
package struct ForgetTarget: Sendable, Equatable {
    package var player: String
    /// Nil for all games; then sign-ins go too.
    package var game: String?
    /// Only events recorded until then, Unix milliseconds: what comes meanwhile is not meant.
    package var recordedUntilMilliseconds: Int64

    /// Makes a target.
    package init(player: String, game: String?, recordedUntilMilliseconds: Int64) {
        self.player = player
        self.game = game
        self.recordedUntilMilliseconds = recordedUntilMilliseconds
    }
}

/// What erasing came to.
package struct ForgetReport: Sendable, Equatable {
    package var events = 0
    package var notices = 0
    package var standings = 0

    /// Makes an empty report.
    package init() {}

    /// The report with so many events more.
    package func adding(events count: Int) -> ForgetReport {
        var sum = self
        sum.events += count
        return sum
    }
}

/// One step over the events.
package struct ForgetStep: Sendable, Equatable {
    /// Events that are gone.
    package var erased = 0
    /// The last event that was looked at, and the last that there is.
    package var done: Int64
    package var total: Int64
    /// An event that is in flight and can go only once it settles: the pass has to be repeated from before it.
    package var inFlight: Int64?
}

extension Outbox {
    /// Rows that a step passes over at most.
    private static let eventsLookedAt = 400
    /// Events that a step erases at most.
    private static let eventsErased = 100
    private static let walkSQL = SQL(
        "SELECT \(EventRow.table.list) FROM events e WHERE e.id > ?1 ORDER BY e.id LIMIT ?2")
    private static let streamsSQL = SQL(
        "SELECT \(StreamRow.table.list) FROM streams s WHERE s.player = ?1 ORDER BY s.id")
    private static let noticesSQL = SQL(
        "SELECT \(NoticeRecord.table.list) FROM notices n WHERE n.number > ?1 ORDER BY n.number LIMIT ?2")
    /// Erases events of `target` with their deliveries and receipts, a step's worth behind event `after`. What is in
    /// flight is thrown away when it settles, and reported.
    package func forgetEvents(
        _ target: ForgetTarget, after: Int64, now: ClockReading
    ) throws(StoreError) -> ForgetStep {
        let rows = try database.rows(Self.walkSQL, [SQLValue(after), SQLValue(Self.eventsLookedAt)]) {
            EventRow.table.read($0)
        }
        let last = try events.last()
        var step = ForgetStep(
            done: rows.count == Self.eventsLookedAt ? rows.last?.number ?? last : last, total: last)
        var touched: Set<Int64> = []
        var walk = upkeep.forgetting ?? Forgetting(target: target)
        if walk.target != target || after == 0 { walk = Forgetting(target: target) }
        for row in rows where target.means(row.game, row.player) {
            guard target.means(row) else {
                for delivery in try deliveries.rows(ofEvent: row.number) { walk.staying.insert(delivery.stream) }
                continue
            }
            if try erase(row, &touched, now: now) {
                step.erased += 1
            } else if step.inFlight == nil {
                step.inFlight = row.number
            }
            if step.erased == Self.eventsErased {
                step.done = row.number
                break
            }
        }
        // What is left of them goes on after each step, since the next may never come.
        for stream in touched.sorted() {
            try bringBackBest(stream, now: now)
            try settleStream(stream, now: now)
            try refreshPendingMark(of: stream)
        }
        if step.erased > 0 { counters.add(Int64(step.erased), to: .forgottenEvents) }
        walk.through = max(walk.through, step.done)
        upkeep.forgetting = walk
        return step
    }

    /// Erases an event but for deliveries in flight; returns whether nothing of it is left. The streams with a head
    /// that it was in are added to `touched`. The client's id of an erased event goes too.
    private func erase(_ event: EventRow, _ touched: inout Set<Int64>, now: ClockReading) throws(StoreError) -> Bool {
        var isGone = true
        for found in try deliveries.rows(ofEvent: event.number) {
            var row = found
            if row.state == .sending {
                row.pending = .discard
                try write(&row, from: .sending)
                isGone = false
                continue
            }
            if row.isOrdered { touched.insert(row.stream) }
            // Whoever follows deliveries is told.
            if row.state.isUnsettled { try move(&row, to: .discarded, now: now) }
            try erase(row)
        }
        if isGone, let clientID = event.clientID {
            try events.forgetID(uid: event.uid, game: event.game, clientID: clientID)
        }
        return isGone
    }

    /// Erases what else is known of `target`: notices and standings. Called once its events are gone; `elsewhere` are
    /// events that never were in the queue, and count with the others.
    package func forgetRest(
        _ target: ForgetTarget, elsewhere: Int = 0, now: ClockReading
    ) throws(StoreError) -> ForgetReport {
        var report = ForgetReport()
        if elsewhere > 0 { counters.add(Int64(elsewhere), to: .forgottenEvents) }
        report.notices = try forgetNotices(target)
        report.standings = try forgetStandings(target, now: now)
        return report
    }

    private func forgetNotices(_ target: ForgetTarget) throws(StoreError) -> Int {
        var (removed, after) = (0, Int64(0))
        while true {
            let rows = try database.rows(Self.noticesSQL, [SQLValue(after), SQLValue(Self.eventsLookedAt)]) {
                NoticeRecord.table.read($0)
            }
            for row in rows where target.means(row.game, row.player) {
                // What came meanwhile still has its event.
                if try events.number(of: row.key) != nil { continue }
                try database.delete(NoticeRecord.self, SQLValue(row.number))
                if row.shown == nil { counters.add(-1, to: .pendingNotices) }
                removed += 1
            }
            guard rows.count == Self.eventsLookedAt, let last = rows.last else { return removed }
            after = last.number
        }
    }

    /// Streams of events that came meanwhile stay, without what was confirmed before.
    private func forgetStandings(_ target: ForgetTarget, now: ClockReading) throws(StoreError) -> Int {
        let rows = try database.rows(Self.streamsSQL, [SQLValue(target.player)]) { StreamRow.table.read($0) }
        let named = try streamsOfStayingEvents(target)
        var count = 0
        for var row in rows where target.means(row.game, row.player) {
            count += 1
            guard named.contains(row.number) else {
                try database.delete(StreamRow.self, SQLValue(row.number))
                continue
            }
            row.confirmed = nil
            row.winner = nil
            try streams.write(row)
            try settleStream(row.number, now: now)
            try refreshPendingMark(of: row.number)
        }
        streams.forget()
        upkeep.forgetting = nil
        return count
    }

    /// The streams of the player's events that stay: those that the walk passed by, and those that came after it.
    private func streamsOfStayingEvents(_ target: ForgetTarget) throws(StoreError) -> Set<Int64> {
        let isWalked = upkeep.forgetting?.target == target
        var staying = isWalked ? upkeep.forgetting?.staying ?? [] : []
        // After a rollback nobody knows what the walk passed by; then all is looked through.
        var after = isWalked ? upkeep.forgetting?.through ?? 0 : 0
        while true {
            let rows = try database.rows(Self.walkSQL, [SQLValue(after), SQLValue(Self.eventsLookedAt)]) {
                EventRow.table.read($0)
            }
            for row in rows where target.means(row.game, row.player) {
                for delivery in try deliveries.rows(ofEvent: row.number) { staying.insert(delivery.stream) }
            }
            guard rows.count == Self.eventsLookedAt, let last = rows.last else { return staying }
            after = last.number
        }
    }
}

/// What a walk that erases a player passed by.
struct Forgetting {
    var target: ForgetTarget
    /// The last event that the walk looked at.
    var through: Int64 = 0
    /// Streams of the player's events that stay.
    var staying: Set<Int64> = []
}

extension ForgetTarget {
    fileprivate func means(_ row: EventRow) -> Bool {
        means(row.game, row.player) && row.wall <= recordedUntilMilliseconds
    }

    fileprivate func means(_ game: String, _ player: String) -> Bool {
        ExactText.same(player, self.player) && (self.game.map { ExactText.same($0, game) } ?? true)
    }
}
