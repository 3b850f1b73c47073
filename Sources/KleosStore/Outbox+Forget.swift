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
    package var accounts = 0

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
    private static let eventsPerForgetStep = 100
    /// Rows that a step passes over at most.
    private static let eventsLookedAt: Int64 = 5_000

    /// Erases events of `target` with their deliveries and receipts, a step's worth behind event `after`. What is in
    /// flight is thrown away when it settles, and reported.
    package func forgetEvents(
        _ target: ForgetTarget, after: Int64, now: ClockReading
    ) throws(StoreError) -> ForgetStep {
        let first = try database.integer("SELECT min(id) FROM events") ?? 0
        let last = try database.integer("SELECT max(id) FROM events") ?? 0
        let start = max(after, first - 1)
        var step = ForgetStep(done: min(last, start + Self.eventsLookedAt), total: last)
        let found = try database.rows(
            """
            SELECT id FROM events WHERE id > ?1 AND id <= ?2 AND player = ?3 AND (?4 IS NULL OR game = ?4) AND wall <= ?5
            ORDER BY id LIMIT ?6
            """,
            [
                SQLValue(start), SQLValue(step.done), SQLValue(target.player), SQLValue(target.game),
                SQLValue(target.recordedUntilMilliseconds), SQLValue(Self.eventsPerForgetStep),
            ]
        ) { $0.integer(0) }
        if found.count == Self.eventsPerForgetStep, let end = found.last { step.done = end }
        var streams: Set<Int64> = []
        for event in found {
            if try erase(event, of: target, &streams, nowMilliseconds: now.wallMilliseconds) {
                step.erased += 1
            } else if step.inFlight == nil {
                step.inFlight = event
            }
        }
        // What is left of them goes on after each step, since the next may never come.
        for stream in streams.sorted() {
            try settleStream(stream, nowMilliseconds: now.wallMilliseconds)
            try refreshPendingMark(of: stream)
        }
        if step.erased > 0 { effects.counts[.forgottenEvents, default: 0] += Int64(step.erased) }
        return step
    }

    /// Erases an event but for deliveries in flight; returns whether nothing of it is left. The streams that it was in
    /// are added to `streams`.
    private func erase(
        _ event: Int64, of target: ForgetTarget, _ streams: inout Set<Int64>, nowMilliseconds: Int64
    ) throws(StoreError) -> Bool {
        let ids = try database.rows("SELECT id FROM deliveries WHERE event = ?1", [SQLValue(event)]) {
            DeliveryID($0.integer(0))
        }
        var isGone = true
        for id in ids {
            guard var row = try row(id) else { continue }
            if row.state == .sending {
                row.pending = .discard
                try write(row, expecting: .sending)
                isGone = false
                continue
            }
            streams.insert(row.stream)
            try freeReplaced(by: &row, of: target, nowMilliseconds: nowMilliseconds)
            try erase(id)
        }
        return isGone
    }

    /// Ends `row`, which is erased next. What it had replaced goes as well, if it is of `target`; what came meanwhile
    /// is replaced by what replaced `row`, or comes back where nothing better was delivered.
    private func freeReplaced(
        by row: inout DeliveryRow, of target: ForgetTarget, nowMilliseconds: Int64
    ) throws(StoreError) {
        try database.run(
            """
            UPDATE deliveries SET superseded_by = NULL WHERE superseded_by = ?1
                AND (SELECT wall FROM events WHERE id = event) <= ?2
            """, SQLValue(row.id.number), SQLValue(target.recordedUntilMilliseconds))
        if row.state.isUnsettled {
            // Whoever follows deliveries is told.
            try move(&row, to: .discarded, nowMilliseconds: nowMilliseconds)
            return try restoreSuperseded(by: row, nowMilliseconds: nowMilliseconds)
        }
        try database.run(
            "UPDATE deliveries SET superseded_by = ?2 WHERE superseded_by = ?1", SQLValue(row.id.number),
            SQLValue(row.supersededBy?.number))
    }

    /// Erases what else is known of `target`: notices, standings and sign-ins. Called once its events are gone;
    /// `elsewhere` are events that never were in the queue, and count with the others.
    package func forgetRest(
        _ target: ForgetTarget, elsewhere: Int = 0, now: ClockReading
    ) throws(StoreError) -> ForgetReport {
        var report = ForgetReport()
        if elsewhere > 0 { effects.counts[.forgottenEvents, default: 0] += Int64(elsewhere) }
        let (player, game) = (SQLValue(target.player), SQLValue(target.game))
        let mine = "player = ?1 AND (?2 IS NULL OR game = ?2)"
        let old = "\(mine) AND NOT EXISTS(SELECT 1 FROM events e WHERE e.key = notices.key)"
        let pending = try database.integer(
            "SELECT count(*) FROM notices WHERE shown IS NULL AND \(old)", player, game)
        effects.counts[.pendingNotices, default: 0] -= pending ?? 0
        report.notices = try database.run("DELETE FROM notices WHERE \(old)", player, game)
        report.standings = try forgetStandings(where: mine, player, game, nowMilliseconds: now.wallMilliseconds)
        guard target.game == nil else { return report }
        report.accounts = try database.run("DELETE FROM accounts WHERE player = ?1", player)
        try database.run("DELETE FROM pauses WHERE player = ?1 AND player != ''", player)
        return report
    }

    /// Streams of events that came meanwhile stay, without what was confirmed before.
    private func forgetStandings(
        where mine: String, _ player: SQLValue, _ game: SQLValue, nowMilliseconds: Int64
    ) throws(StoreError) -> Int {
        let isNew = try database.integer("SELECT 1 FROM events WHERE \(mine) LIMIT 1", player, game) != nil
        guard isNew else { return try database.run("DELETE FROM standing WHERE \(mine)", player, game) }
        let streams = try database.rows("SELECT id FROM standing WHERE \(mine)", [player, game]) { $0.integer(0) }
        for stream in streams {
            try database.run(
                """
                UPDATE standing SET confirmed_measure = NULL, confirmed_amount = NULL, confirmed_decimals = NULL,
                    confirmed_at = NULL, confirmed_rank = NULL WHERE id = ?1
                """, SQLValue(stream))
            try settleStream(stream, nowMilliseconds: nowMilliseconds)
            try refreshPendingMark(of: stream)
        }
        return streams.count
    }
}

extension Outbox.CounterKey {
    /// Events that an operator erased.
    static let forgottenEvents = Outbox.CounterKey(endpoint: 0, state: "forgotten")
}
