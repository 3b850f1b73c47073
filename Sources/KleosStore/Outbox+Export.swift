package import KleosModel
package import KleosSupport

/// Some events on their way to another machine's queue.
package struct ExportedEvents: Sendable {
    package var events: [SalvagedEvent]
    /// The last event that was looked at.
    package var last: Int64
    /// Whether the next event is in flight, so that it cannot be held yet; the same is asked again then.
    package var isInFlight: Bool
}

extension Outbox {
    private static let eventsPerExport = 16

    /// The number of the newest event.
    package func lastEvent() throws(StoreError) -> Int64 {
        try database.integer("SELECT max(id) FROM events") ?? 0
    }

    /// What is held says so until the export's file is safe: an export that breaks off has given nothing away, and the
    /// next one takes what it holds as what it was.
    private static let beingExported = "being exported to another queue, which sends it once the export is whole"
    private static let wasExported = "exported to another queue, which sends it"

    /// Reads events behind `after`, at most up to `end`. With `isHeld` their undelivered deliveries are held here in
    /// the same transaction, so that only the other queue sends them; `finishExport` makes that final.
    package func export(
        after: Int64, upTo end: Int64, isHeld: Bool, now: ClockReading
    ) throws(StoreError) -> ExportedEvents {
        let ids = try database.rows(
            "SELECT id FROM events WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
            [SQLValue(after), SQLValue(end), SQLValue(Self.eventsPerExport)]
        ) { $0.integer(0) }
        var page = ExportedEvents(events: [], last: after, isInFlight: false)
        for id in ids {
            let rows = isHeld ? try rows(of: id) : []
            if rows.contains(where: { $0.state == .sending }) {
                page.isInFlight = true
                return page
            }
            if let event = try exported(id, isHeld: isHeld) { page.events.append(event) }
            try hold(exported: rows, now: now)
            page.last = id
        }
        if ids.count < Self.eventsPerExport { page.last = end }
        return page
    }

    private func rows(of event: Int64) throws(StoreError) -> [DeliveryRow] {
        try database.rows("\(DeliveryRow.select) WHERE d.event = ?1", [SQLValue(event)]) { DeliveryRow($0) }
    }

    private func hold(exported rows: [DeliveryRow], now: ClockReading) throws(StoreError) {
        for row in rows {
            // Read again, because the stream of an earlier one may have moved it.
            guard var row = try self.row(row.id), row.state == .waiting || row.state == .ready else { continue }
            try move(
                &row, to: .held, reason: .operatorHold, message: Self.beingExported,
                nowMilliseconds: now.wallMilliseconds)
            try settleStream(row.stream, nowMilliseconds: now.wallMilliseconds)
        }
    }

    private func exported(_ id: Int64, isHeld: Bool) throws(StoreError) -> SalvagedEvent? {
        guard let event = try event(id) else { return nil }
        let columns = """
            d.id, p.name, d.merge, d.strict, d.priority, d.confirms, d.state, d.reason, d.message, d.due, d.attempts,
            d.inherited, d.server_errors, d.unanswered, d.ignores_age, d.pending, d.settled, d.rank, d.best, d.changed,
            d.unlocked, d.superseded_by
            """
        let found = try database.rows(
            "SELECT \(columns) FROM deliveries d CROSS JOIN endpoints p ON p.id = d.endpoint WHERE d.event = ?1 ORDER BY d.id",
            [SQLValue(id)]
        ) { (id: $0.integer(0), superseder: $0.optionalInteger(21), delivery: SalvagedEvent.Delivery($0)) }
        var deliveries: [SalvagedEvent.Delivery] = []
        for (id, superseder, found) in found {
            var delivery = found
            if isHeld, delivery.state == .held, delivery.message == Self.beingExported {
                (delivery.state, delivery.reason, delivery.message) = (.waiting, nil, nil)
            }
            delivery.isReplacedForGood = try isReplacedForGood(delivery.state, by: superseder)
            delivery.rendering = try database.first(
                "SELECT bytes FROM renderings WHERE delivery = ?1", SQLValue(id)
            ) { $0.optionalBytes(0) ?? [] }
            delivery.receipt = try receipt(of: id)
            deliveries.append(delivery)
        }
        return SalvagedEvent(event: event, deliveries: deliveries)
    }

    private func isReplacedForGood(_ state: DeliveryState, by superseder: Int64?) throws(StoreError) -> Bool {
        guard state == .superseded else { return false }
        var next = superseder
        for _ in 0..<1_000 {
            guard let id = next else { return true }
            guard let row = try row(DeliveryID(id)) else { return false }
            switch row.state {
            case .delivered: return true
            case .superseded: next = row.supersededBy?.number
            default: return false
            }
        }
        return false
    }

    private func receipt(of delivery: Int64) throws(StoreError) -> [Attempt] {
        try database.rows(
            """
            SELECT number, started, duration, outcome, status, error, answer FROM attempts
            WHERE delivery = ?1 ORDER BY number
            """, [SQLValue(delivery)]
        ) { row in
            Outcome(rawValue: row.text(3)).map { outcome in
                Attempt(
                    number: Int(clamping: row.integer(0)), startedMilliseconds: row.integer(1),
                    durationMilliseconds: row.integer(2), outcome: outcome,
                    status: row.optionalInteger(4).map { Int(clamping: $0) }, error: row.optionalText(5),
                    answer: row.optionalText(6))
            }
        }
    }

    /// Reads what was confirmed in streams behind number `after`; the last number that was looked at comes along, or
    /// nil where there are no more.
    package func exportStandings(
        after: Int64
    ) throws(StoreError) -> (standings: [SalvagedStanding], last: Int64?) {
        let rows = try database.rows(
            """
            SELECT \(StreamRow.columns), p.name, s.game, s.player, s.kind, s.item FROM standing s
            CROSS JOIN endpoints p ON p.id = s.endpoint WHERE s.id > ?1 ORDER BY s.id LIMIT ?2
            """, [SQLValue(after), SQLValue(Self.eventsPerExport)]
        ) { row -> (Int64, SalvagedStanding?) in
            let stream = StreamRow(row)
            let kind = SubjectKind(rawValue: row.text(13)) ?? .score
            let key = StreamKey(
                endpoint: row.text(10), game: row.text(11), player: row.text(12), kind: kind, item: row.text(14))
            return (stream.id, stream.confirmed.map { SalvagedStanding(stream: key, confirmed: $0) })
        }
        return (rows.compactMap(\.1), rows.count == Self.eventsPerExport ? rows.last?.0 : nil)
    }

    /// Reads notices that nobody was shown, behind number `after`; the last number comes along, or nil where there are
    /// no more.
    package func exportNotices(after: Int64) throws(StoreError) -> (notices: [Notice], last: Int64?) {
        let found = try notices(
            NoticeQuery(isPendingOnly: true, afterNumber: after, limit: Self.eventsPerExport))
        return (found, found.count == Self.eventsPerExport ? found.last?.number : nil)
    }

    /// Gives away what an export holds, whose file is safe: notices up to number `newest` are not shown here any more,
    /// and what is held is not another export's to give away. One step; returns whether there is more.
    package func finishExport(upToNotice newest: Int64, now: ClockReading) throws(StoreError) -> Bool {
        try settleNotices(upTo: newest, route: "export", now: now)
        let count = try database.run(
            """
            UPDATE deliveries SET message = ?1 WHERE id IN (
                SELECT id FROM deliveries INDEXED BY deliveries_kept
                WHERE state = 'held' AND reason = 'operator' AND message = ?2 LIMIT ?3)
            """, SQLValue(Self.wasExported), SQLValue(Self.beingExported), SQLValue(Self.reconciledPerStep))
        return count == Self.reconciledPerStep
    }
}

extension SalvagedEvent.Delivery {
    /// Reads the columns of `Outbox.exported`.
    fileprivate init(_ row: Statement) {
        self.init(
            endpoint: row.text(1),
            way: FanOut(
                endpoint: row.text(1), merge: MergeRule(code: row.integer(2)), isStrict: row.flag(3),
                priority: DeliveryPriority(rawValue: Int(row.integer(4))) ?? .score, confirms: row.flag(5)),
            state: DeliveryState(row, 6), reason: row.optionalText(7), message: row.optionalText(8),
            dueMilliseconds: row.integer(9), attempts: row.integer(10), inherited: row.integer(11),
            serverErrors: row.integer(12), isUnanswered: row.flag(13), ignoresAge: row.flag(14),
            isDiscarded: row.optionalText(15) == "discard", settledMilliseconds: row.optionalInteger(16),
            confirmation: Confirmation(
                rank: row.optionalInteger(17), best: row.optionalText(18),
                changed: row.optionalInteger(19).map { $0 == 1 }, unlocked: row.optionalInteger(20).map { $0 == 1 }),
            isReplacedForGood: false, rendering: nil, receipt: [])
    }
}
