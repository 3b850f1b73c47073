package import KleosModel

/// A stream with its standing, as the database keeps it.
struct StreamRow {
    var id: Int64
    var confirmed: StandingMark?
    var pending: StandingMark?

    static let columns = """
        s.id, s.confirmed_measure, s.confirmed_amount, s.confirmed_decimals, s.confirmed_at, s.confirmed_rank, \
        s.pending_measure, s.pending_amount, s.pending_decimals, s.pending_at
        """

    init(id: Int64) { self.id = id }

    init(_ row: Statement) {
        id = row.integer(0)
        confirmed = Self.mark(row, 1, rank: row.optionalInteger(5))
        pending = Self.mark(row, 6, rank: nil)
    }

    private static func mark(_ row: Statement, _ column: Int32, rank: Int64?) -> StandingMark? {
        if row.isNull(column) { return nil }
        return StoredMeasure(row, column).measure.map {
            StandingMark(measure: $0, atMilliseconds: row.integer(column + 3), rank: rank)
        }
    }
}

extension Outbox {
    /// Finds the stream of `event` at `endpoint`, or makes it.
    func makeStream(endpoint: Int64, event: Event) throws(StoreError) -> StreamRow {
        try makeStream(
            endpoint: endpoint, game: event.game, player: event.player, kind: event.subject.kind,
            item: event.subject.item)
    }

    /// Finds a stream, or makes it.
    func makeStream(
        endpoint: Int64, game: String, player: String, kind: SubjectKind, item: String
    ) throws(StoreError) -> StreamRow {
        let kind = kind.rawValue
        let hash = Self.hash(endpoint, [game, player, kind, item])
        let found = try database.first(
            """
            SELECT \(StreamRow.columns) FROM standing s
            WHERE s.hash = ?1 AND s.endpoint = ?2 AND s.game = ?3 AND s.player = ?4 AND s.kind = ?5 AND s.item = ?6
            """, SQLValue(hash), SQLValue(endpoint), SQLValue(game), SQLValue(player), SQLValue(kind),
            SQLValue(item)
        ) { StreamRow($0) }
        if let found { return found }
        try database.run(
            "INSERT INTO standing(hash, endpoint, game, player, kind, item) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
            SQLValue(hash), SQLValue(endpoint), SQLValue(game), SQLValue(player), SQLValue(kind),
            SQLValue(item))
        return StreamRow(id: database.lastRowID)
    }

    /// FNV-1a over the parts of a stream's key, each ended by a byte that UTF-8 never has.
    static func hash(_ endpoint: Int64, _ parts: [String]) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for shift in 0..<8 { mix(UInt8(truncatingIfNeeded: endpoint >> Int64(8 * shift))) }
        for part in parts {
            for byte in part.utf8 { mix(byte) }
            mix(0xFF)
        }
        return Int64(bitPattern: hash)
    }

    /// Reads a stream.
    func stream(_ id: Int64) throws(StoreError) -> StreamRow? {
        try database.first("SELECT \(StreamRow.columns) FROM standing s WHERE s.id = ?1", SQLValue(id)) {
            StreamRow($0)
        }
    }

    /// What the endpoint confirmed as the stream's best.
    func confirmedMeasure(of stream: Int64) throws(StoreError) -> StandingMeasure? {
        try self.stream(stream)?.confirmed?.measure
    }

    /// Notes down that `event` is on its way, if it is better than what is confirmed and what is on its way already.
    func raisePendingMark(of stream: StreamRow, to event: Event, merge: MergeRule) throws(StoreError) {
        guard let measure = event.subject.measure, MergeOrder.replaces(measure, stream.confirmed?.measure, merge),
            MergeOrder.replaces(measure, stream.pending?.measure, merge)
        else { return }
        try setPendingMark(
            of: stream.id, StandingMark(measure: measure, atMilliseconds: event.effectiveTimeMilliseconds))
    }

    private func setPendingMark(of stream: Int64, _ mark: StandingMark?) throws(StoreError) {
        let measure = mark.map { StoredMeasure($0.measure) }
        try database.run(
            """
            UPDATE standing SET pending_measure = ?2, pending_amount = ?3, pending_decimals = ?4, pending_at = ?5
            WHERE id = ?1
            """,
            SQLValue(stream), SQLValue(measure?.name), SQLValue(measure?.amount),
            SQLValue(measure.map { Int64($0.decimals) }), SQLValue(mark?.atMilliseconds))
    }

    /// Notes down what `event` brought at the endpoint, unless something better is confirmed.
    func confirm(
        _ event: Event, merge: MergeRule, rank: Int64?, stream id: Int64
    ) throws(StoreError) {
        guard let measure = event.subject.measure, let stream = try stream(id),
            MergeOrder.replaces(measure, stream.confirmed?.measure, merge)
        else { return }
        try setConfirmedMark(
            of: id, StandingMark(measure: measure, atMilliseconds: event.effectiveTimeMilliseconds, rank: rank))
    }

    /// Notes down what is confirmed.
    func setConfirmedMark(of id: Int64, _ mark: StandingMark) throws(StoreError) {
        let stored = StoredMeasure(mark.measure)
        try database.run(
            """
            UPDATE standing SET confirmed_measure = ?2, confirmed_amount = ?3, confirmed_decimals = ?4,
                confirmed_at = ?5, confirmed_rank = ?6
            WHERE id = ?1
            """,
            SQLValue(id), SQLValue(stored.name), SQLValue(stored.amount), SQLValue(stored.decimals),
            SQLValue(mark.atMilliseconds), SQLValue(mark.rank))
    }

    /// Works out again what is on its way, after a delivery of the stream ended.
    func refreshPendingMark(of id: Int64) throws(StoreError) {
        guard let stream = try stream(id) else { return }
        let marks = try database.rows(
            """
            SELECT e.measure, e.amount, e.decimals, coalesce(e.occurred, e.wall), d.merge
            FROM deliveries d CROSS JOIN events e ON e.id = d.event
            WHERE d.stream = ?1 AND d.settled IS NULL AND d.merge != 0
            ORDER BY d.id LIMIT 256
            """, [SQLValue(id)]
        ) { row -> (mark: StandingMark, merge: MergeRule)? in
            StoredMeasure(row, 0).measure.map {
                (StandingMark(measure: $0, atMilliseconds: row.integer(3)), MergeRule(code: row.integer(4)))
            }
        }
        var best: StandingMark?
        for (mark, merge) in marks
        where MergeOrder.replaces(mark.measure, stream.confirmed?.measure, merge)
            && MergeOrder.replaces(mark.measure, best?.measure, merge)
        {
            best = mark
        }
        if best != stream.pending { try setPendingMark(of: id, best) }
    }

    /// Standings in the order in which their streams came to be.
    package func standings(_ query: StandingQuery) throws(StoreError) -> [Standing] {
        let rows = try database.rows(
            """
            SELECT \(StreamRow.columns), p.name, s.game, s.player, s.kind, s.item
            FROM standing s CROSS JOIN endpoints p ON p.id = s.endpoint
            WHERE (?1 IS NULL OR s.game = ?1) AND (?2 IS NULL OR s.player = ?2) AND (?3 IS NULL OR p.name = ?3)
                AND (?4 IS NULL OR s.kind = ?4) AND (?5 IS NULL OR s.item = ?5)
                AND (s.confirmed_measure IS NOT NULL OR s.pending_measure IS NOT NULL)
            ORDER BY s.id LIMIT ?6
            """,
            [
                SQLValue(query.game), SQLValue(query.player), SQLValue(query.endpoint),
                SQLValue(query.kind?.rawValue), SQLValue(query.item), SQLValue(query.limit),
            ]
        ) { row -> Standing? in
            guard let kind = SubjectKind(rawValue: row.text(13)) else { return nil }
            let stream = StreamRow(row)
            return Standing(
                stream: StreamKey(
                    endpoint: row.text(10), game: row.text(11), player: row.text(12), kind: kind, item: row.text(14)),
                confirmed: stream.confirmed, pending: stream.pending)
        }
        return rows
    }
}
