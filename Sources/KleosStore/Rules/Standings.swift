package import KleosModel

extension Outbox {
    private static let pendingSQL = SQL("\(Deliveries.selectQueue) WHERE q.stream = ?1 AND q.ordered = 1 LIMIT 256")
    private static let standingsSQL = SQL(
        "SELECT \(StreamRow.table.list) FROM streams s WHERE s.id > ?1 ORDER BY s.id LIMIT ?2")
    private static let standingsOfPlayerSQL = SQL(
        "SELECT \(StreamRow.table.list) FROM streams s WHERE s.player = ?3 AND s.id > ?1 ORDER BY s.id LIMIT ?2")

    /// Notes down that `event` is on its way, if it is better than what is confirmed and what is on its way already.
    func raisePendingMark(of stream: StreamRow, to event: Event, merge: MergeRule) throws(StoreError) {
        guard let measure = event.subject.measure, MergeOrder.replaces(measure, stream.confirmed?.measure, merge),
            MergeOrder.replaces(measure, stream.pending?.measure, merge)
        else { return }
        try streams.setPending(
            StandingMark(measure: measure, atMilliseconds: event.effectiveTimeMilliseconds), of: stream)
    }

    /// Notes down what `event` brought at the endpoint, unless something better is confirmed.
    func confirm(_ event: Event, merge: MergeRule, rank: Int64?, stream: inout StreamRow) {
        guard let measure = event.subject.measure, MergeOrder.replaces(measure, stream.confirmed?.measure, merge) else {
            return
        }
        stream.confirmed = StandingMark(
            measure: measure, atMilliseconds: event.effectiveTimeMilliseconds, rank: rank)
    }

    /// Works out again what is on its way, after a delivery of the stream ended.
    func refreshPendingMark(of stream: Int64) throws(StoreError) {
        let row = try streams.named(stream)
        let best = try pendingMark(of: row)
        if best != row.pending { try streams.setPending(best, of: row) }
    }

    /// The best that is on its way and better than what is confirmed.
    func pendingMark(of stream: StreamRow) throws(StoreError) -> StandingMark? {
        let rows = try database.rows(Self.pendingSQL, [SQLValue(stream.number)]) { deliveries.queued($0) }
        var best: StandingMark?
        for row in rows.sorted(by: { $0.id < $1.id }) {
            guard row.merge != .none, let measure = row.measure,
                MergeOrder.replaces(measure, stream.confirmed?.measure, row.merge),
                MergeOrder.replaces(measure, best?.measure, row.merge)
            else { continue }
            best = StandingMark(measure: measure, atMilliseconds: row.event.occurred ?? row.event.wall)
        }
        return best
    }

    /// How many streams one turn looks at.
    private static let standingsPerTurn = 2_000

    /// Standings in the order in which their streams came to be: what one turn finds, and where the next turn begins;
    /// nil after the last.
    package func standings(
        _ query: StandingQuery, after: Int64 = 0
    ) throws(StoreError) -> (standings: [Standing], next: Int64?) {
        let endpoint = try query.endpoint.map { (name) throws(StoreError) in try endpoints.id(name) ?? 0 }
        var values = [SQLValue(after), SQLValue(Self.standingsPerTurn)]
        var sql = Self.standingsSQL
        if let player = query.player {
            sql = Self.standingsOfPlayerSQL
            values.append(SQLValue(player))
        }
        let rows = try database.rows(sql, values) { StreamRow.table.read($0) }
        var standings: [Standing] = []
        for row in rows {
            guard row.confirmedMeasure != nil || row.pendingMeasure != nil, query.fits(row, endpoint: endpoint) else {
                continue
            }
            standings.append(
                Standing(
                    stream: StreamKey(
                        endpoint: try endpoints.name(row.endpoint), game: row.game, player: row.player, kind: row.kind,
                        item: row.item), confirmed: row.confirmed, pending: row.pending))
            if standings.count == query.limit { return (standings, row.number) }
        }
        return (standings, rows.count == Self.standingsPerTurn ? rows.last?.number : nil)
    }
}

extension StandingQuery {
    fileprivate func fits(_ row: StreamRow, endpoint: Int64?) -> Bool {
        (game.map { ExactText.same($0, row.game) } ?? true) && (player.map { ExactText.same($0, row.player) } ?? true)
            && (endpoint.map { $0 == row.endpoint } ?? true) && (kind.map { $0 == row.kind } ?? true)
            && (item.map { ExactText.same($0, row.item) } ?? true)
    }
}
