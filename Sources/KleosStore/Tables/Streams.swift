import KleosModel

/// The streams: their standings, contests and counts of what is in backoff.
final class Streams {
    private let database: Connection
    /// Streams with too many deliveries in backoff; nil until it was read.
    private var blocked: Set<Int64>?

    init(_ database: Connection) { self.database = database }

    private static let findSQL = SQL(
        """
        SELECT \(StreamRow.table.list) FROM streams s
        WHERE s.hash = ?1 AND s.endpoint = ?2 AND s.game = ?3 AND s.player = ?4 AND s.kind = ?5 AND s.item = ?6
            AND (?7 IS NULL OR s.lane = ?7)
        """)
    private static let insertSQL = SQL(
        """
        INSERT INTO streams(hash, endpoint, lane, game, player, kind, item, round, untold, in_backoff)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0)
        """)
    private static let pendingSQL = SQL(
        """
        UPDATE streams SET pending_measure = ?2, pending_amount = ?3, pending_decimals = ?4, pending_at = ?5
        WHERE id = ?1
        """)
    private static let backoffSQL = SQL("UPDATE streams SET in_backoff = max(0, in_backoff + ?2) WHERE id = ?1")
    private static let blockedSQL = SQL(
        "SELECT id FROM streams WHERE in_backoff >= \(StreamRow.maximumInBackoff)")
    private static let isBlockedSQL = SQL(
        "SELECT in_backoff >= \(StreamRow.maximumInBackoff) FROM streams WHERE id = ?1")
    private static let untoldSQL = SQL("UPDATE streams SET untold = ?2 WHERE id = ?1 AND untold != ?2")

    /// Finds the stream of an item at `endpoint`, or makes it in `lane`. Throws `StoreError`.
    func make(
        endpoint: Int64, game: String, player: String, kind: SubjectKind, item: String,
        lane: () throws(StoreError) -> Int64
    ) throws(StoreError) -> StreamRow {
        let hash = Self.hash(endpoint, game, player, kind, item)
        let values: [SQLValue] = [
            SQLValue(hash), SQLValue(endpoint), SQLValue(game), SQLValue(player), kind.stored, SQLValue(item), nil,
        ]
        if let found = try database.first(Self.findSQL, values: values, read: { StreamRow.table.read($0) }) {
            return found
        }
        var row = StreamRow()
        (row.hash, row.endpoint, row.lane) = (hash, endpoint, try lane())
        (row.game, row.player, row.kind, row.item) = (game, player, kind, item)
        try database.run(
            Self.insertSQL, SQLValue(hash), SQLValue(endpoint), SQLValue(row.lane), SQLValue(game), SQLValue(player),
            kind.stored, SQLValue(item))
        row.number = database.lastRowID
        return row
    }

    private static func hash(
        _ endpoint: Int64, _ game: String, _ player: String, _ kind: SubjectKind, _ item: String
    ) -> Int64 {
        KeyHash.number(endpoint, [game, player, kind.rawValue, item])
    }

    /// Reads a stream. Throws `StoreError`.
    func row(_ number: Int64) throws(StoreError) -> StreamRow? {
        try database.find(StreamRow.self, SQLValue(number))
    }

    /// Reads a stream that a delivery names. Throws `StoreError`.
    func named(_ number: Int64) throws(StoreError) -> StreamRow {
        guard let row = try row(number) else {
            throw StoreError(
                .damaged, operation: "read a stream", message: "a delivery points to stream \(number), which is missing"
            )
        }
        return row
    }

    /// Writes all of a stream. Throws `StoreError`.
    func write(_ row: StreamRow) throws(StoreError) { try database.update(row) }

    /// Notes down what is on its way. Throws `StoreError`.
    func setPending(_ mark: StandingMark?, of row: StreamRow) throws(StoreError) {
        var changed = row
        changed.pending = mark
        try database.run(
            Self.pendingSQL, SQLValue(row.number), changed.pendingMeasure.stored, SQLValue(changed.pendingAmount),
            changed.pendingDecimals.stored, SQLValue(changed.pendingAt))
    }

    /// Notes down whether something may have to be told that gave way. Throws `StoreError`.
    func setUntold(_ isUntold: Bool, of stream: Int64) throws(StoreError) {
        try database.run(Self.untoldSQL, SQLValue(stream), SQLValue(isUntold))
    }

    /// Counts deliveries that come into backoff, or leave it. Returns whether the stream is no longer blocked by it.
    /// Throws `StoreError`.
    func addInBackoff(_ count: Int64, stream: Int64) throws(StoreError) -> Bool {
        try database.run(Self.backoffSQL, SQLValue(stream), SQLValue(count))
        let isBlocked = try database.integer(Self.isBlockedSQL, SQLValue(stream)) == 1
        var streams = try blockedStreams()
        let wasBlocked = streams.contains(stream)
        guard wasBlocked != isBlocked else { return false }
        if isBlocked { streams.insert(stream) } else { streams.remove(stream) }
        blocked = streams
        return wasBlocked
    }

    /// Streams without a head that have so many deliveries in backoff that no fresh one goes out. Throws `StoreError`.
    func blockedStreams() throws(StoreError) -> Set<Int64> {
        if let blocked { return blocked }
        let read = Set(try database.rows(Self.blockedSQL) { $0.integer(0) })
        blocked = read
        return read
    }

    /// Forgets what was read; called after ROLLBACK.
    func forget() { blocked = nil }
}
