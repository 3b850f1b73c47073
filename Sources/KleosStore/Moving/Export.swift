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

    private static let idsSQL = SQL("SELECT id FROM events WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3")
    private static let standingsSQL = SQL(
        "SELECT \(StreamRow.table.list) FROM streams s WHERE s.id > ?1 ORDER BY s.id LIMIT ?2")
    private static let exportedSQL = SQL(
        """
        UPDATE queue SET message = ?1 WHERE id IN (
            SELECT id FROM queue WHERE state = 2 AND reason = \(DeliveryReason.operatorHold.code) AND message = ?2 LIMIT ?3)
        """)
    private static let givenAwayPerStep = 400

    /// The number of the newest event.
    package func lastEvent() throws(StoreError) -> Int64 { try events.last() }

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
            Self.idsSQL, [SQLValue(after), SQLValue(end), SQLValue(Self.eventsPerExport)]
        ) { $0.integer(0) }
        var page = ExportedEvents(events: [], last: after, isInFlight: false)
        for id in ids {
            let rows = isHeld ? try deliveries.rows(ofEvent: id) : []
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

    private func hold(exported rows: [DeliveryRow], now: ClockReading) throws(StoreError) {
        for found in rows {
            // Read again, because the stream of an earlier one may have moved it.
            guard var row = try deliveries.queued(found.id), row.state == .waiting || row.state == .ready else {
                continue
            }
            try move(&row, to: .held, reason: .operatorHold, message: Self.beingExported, now: now)
            if row.isOrdered { try settleStream(after: row, now: now) }
        }
    }

    private func exported(_ id: Int64, isHeld: Bool) throws(StoreError) -> SalvagedEvent? {
        guard let event = try events.row(id) else { return nil }
        var exported: [SalvagedEvent.Delivery] = []
        for row in try deliveries.rows(ofEvent: id) {
            var delivery = SalvagedEvent.Delivery(row, endpoint: try endpoints.name(row.id.endpoint))
            if isHeld, row.state == .held, row.message == Self.beingExported {
                (delivery.state, delivery.reason, delivery.message) = (.waiting, nil, nil)
            }
            if row.state == .superseded {
                delivery.isReplacedForGood = isReplacedForGood(row, in: try streams.named(row.stream))
            }
            delivery.receipt = try deliveries.attempts(of: row)
            exported.append(delivery)
        }
        return SalvagedEvent(event: try events.event(event), deliveries: exported)
    }

    /// Reads what was confirmed in streams behind number `after`; the last number that was looked at comes along, or
    /// nil where there are no more.
    package func exportStandings(
        after: Int64
    ) throws(StoreError) -> (standings: [SalvagedStanding], last: Int64?) {
        let rows = try database.rows(Self.standingsSQL, [SQLValue(after), SQLValue(Self.eventsPerExport)]) {
            StreamRow.table.read($0)
        }
        var standings: [SalvagedStanding] = []
        for row in rows {
            guard let confirmed = row.confirmed else { continue }
            standings.append(
                SalvagedStanding(
                    stream: StreamKey(
                        endpoint: try endpoints.name(row.endpoint), game: row.game, player: row.player, kind: row.kind,
                        item: row.item), confirmed: confirmed))
        }
        return (standings, rows.count == Self.eventsPerExport ? rows.last?.number : nil)
    }

    /// Reads notices that nobody was shown, behind number `after`; the last number comes along, or nil where there are
    /// no more.
    package func exportNotices(after: Int64) throws(StoreError) -> (notices: [Notice], last: Int64?) {
        let page = try notices(NoticeQuery(isPendingOnly: true, afterNumber: after, limit: Self.eventsPerExport))
        return (page.notices, page.next)
    }

    /// Gives away what an export holds, whose file is safe: notices up to number `newest` are not shown here any more,
    /// and what is held is not another export's to give away. One step; returns whether there is more.
    package func finishExport(upToNotice newest: Int64, now: ClockReading) throws(StoreError) -> Bool {
        let hasMoreNotices = try settleNotices(upTo: newest, route: "export", now: now)
        let count = try database.run(
            Self.exportedSQL, SQLValue(Self.wasExported), SQLValue(Self.beingExported),
            SQLValue(Self.givenAwayPerStep))
        return hasMoreNotices || count == Self.givenAwayPerStep
    }
}

extension SalvagedEvent.Delivery {
    /// A delivery as it leaves for another outbox, where the numbers of this one mean nothing.
    init(_ row: DeliveryRow, endpoint: String) {
        self.init(
            endpoint: endpoint,
            way: FanOut(
                endpoint: endpoint, merge: row.merge, isStrict: row.isStrict, priority: row.weight,
                confirms: row.confirms),
            state: row.state, reason: row.reason?.rawValue, message: row.message, dueMilliseconds: row.due ?? 0,
            attempts: Int64(row.attempts), inherited: Int64(row.inherited), serverErrors: Int64(row.serverErrors),
            isUnanswered: row.isUnanswered, ignoresAge: row.ignoresAge, isDiscarded: row.pending == .discard,
            settledMilliseconds: row.settled, confirmation: row.confirmation, isReplacedForGood: false,
            rendering: row.letter, receipt: [])
    }
}
