package import KleosModel

extension DeliveryRecord {
    static let columns = """
        d.id, e.key, e.client_id, p.name, e.game, e.player, e.item, e.measure, e.amount, e.decimals, d.uid, d.state, \
        d.reason, d.message, d.priority, d.attempts, d.due, e.wall, e.occurred, d.settled, d.rank, d.best, d.changed, \
        d.unlocked, (SELECT o.key FROM deliveries s JOIN events o ON o.id = s.event WHERE s.id = d.superseded_by)
        """

    init(_ row: Statement) {
        let state = DeliveryState(row, 11)
        let measure = StoredMeasure(row, 7)
        id = DeliveryID(row.integer(0))
        key = EventKey(row, 1)
        clientID = row.optionalText(2)
        endpoint = row.text(3)
        game = row.text(4)
        player = row.text(5)
        subject = measure.subject(item: row.text(6))
        uid = UInt32(truncatingIfNeeded: row.integer(10))
        self.state = state
        reason = row.optionalText(12).flatMap(DeliveryReason.init)
        message = row.optionalText(13)
        priority = DeliveryPriority(rawValue: Int(row.integer(14))) ?? .counter
        attempts = Int(row.integer(15))
        dueMilliseconds = state == .ready ? row.integer(16) : nil
        createdMilliseconds = row.integer(17)
        occurredMilliseconds = row.optionalInteger(18) ?? row.integer(17)
        settledMilliseconds = row.optionalInteger(19)
        confirmation =
            state == .delivered
            ? Confirmation(
                rank: row.optionalInteger(20), best: row.optionalText(21),
                changed: row.isNull(22) ? nil : row.flag(22), unlocked: row.isNull(23) ? nil : row.flag(23)) : nil
        supersededBy = row.isNull(24) ? nil : EventKey(row, 24)
    }

    /// About how many bytes the record takes in an answer.
    var approximateBytes: Int {
        512 + player.utf8.count + subject.item.utf8.count + (clientID?.utf8.count ?? 0) + (message?.utf8.count ?? 0)
            + (confirmation?.best?.utf8.count ?? 0)
    }
}

extension Outbox {
    /// How many deliveries one turn of a list looks at.
    static let scannedPerTurn: Int64 = 4_000
    /// How many bytes a page has at most, about.
    static let pageBytes = 256 * 1_024
    /// How many deliveries a page has at most.
    static let pageDeliveries = 500

    /// Deliveries that fit `filter`, the newest first, that `uid` submitted (nil: anyone). A page may be short or empty
    /// although more follow: then it has a cursor to go on with. Throws `invalidCursor` for a cursor of other making.
    package func list(
        _ filter: DeliveryFilter, visibleTo uid: UInt32?, cursor: String? = nil, limit: Int
    ) throws(StoreError) -> DeliveryPage {
        var bytes = 0
        let limit = min(max(1, limit), Self.pageDeliveries)
        let page = try scan(filter, visibleTo: uid, cursor: cursor, limit: limit) { row in DeliveryRecord(row) }
        let fitting = page.found.prefix { record in
            bytes += record.approximateBytes
            return bytes <= Self.pageBytes
        }
        let isCut = fitting.count < page.found.count
        return DeliveryPage(
            deliveries: Array(fitting), cursor: isCut ? fitting.last.map { String($0.id.number) } : page.cursor)
    }

    /// Reads a cursor. Throws `invalidCursor`.
    static func number(of cursor: String?) throws(StoreError) -> Int64? {
        guard let cursor else { return nil }
        guard let number = Int64(cursor), number >= 0 else {
            throw StoreError(
                .invalidCursor, operation: "go on with a list", message: "\(cursor) is no cursor; begin without one")
        }
        return number
    }

    /// One turn of a walk from the newest delivery to the oldest: what fits, and where the next turn begins.
    func scan<T>(
        _ filter: DeliveryFilter, visibleTo uid: UInt32?, cursor: String?, limit: Int, read: (Statement) -> T
    ) throws(StoreError) -> (found: [T], cursor: String?) {
        var found: [T] = []
        let start = try Self.number(of: cursor) ?? .max
        // Dead and held deliveries have an index of their own; others are found by walking.
        let state = filter.states.count == 1 ? filter.states.first : nil
        let index = state == .dead || state == .held ? state : nil
        let condition = index.map { "d.state = '\($0.rawValue)' AND" } ?? ""
        let hint = index == nil ? "NOT INDEXED" : "INDEXED BY deliveries_kept"
        let end = try database.integer(
            "SELECT d.id FROM deliveries d \(hint) WHERE \(condition) d.id < ?1 ORDER BY d.id DESC LIMIT 1 OFFSET ?2",
            SQLValue(start), SQLValue(Self.scannedPerTurn - 1))
        var endpoint: Int64?
        if let name = filter.endpoint {
            guard let id = try endpointID(name) else { return ([], nil) }
            endpoint = id
        }
        let states = filter.states.isEmpty ? nil : filter.states.map { ",\($0.rawValue)," }.sorted().joined()
        var last: Int64?
        found = try database.rows(
            Self.scanSQL(hint: hint, condition: condition),
            [
                SQLValue(start), SQLValue(end ?? 0), SQLValue(states), SQLValue(endpoint), SQLValue(filter.game),
                SQLValue(filter.player), SQLValue(filter.kind?.rawValue), SQLValue(filter.item),
                SQLValue(filter.uid.map { Int64($0) }), SQLValue(uid.map { Int64($0) }),
                SQLValue(filter.text.map(Self.pattern)),
            ], limit: limit
        ) { row in
            last = row.integer(0)
            return read(row)
        }
        let next = found.count == limit ? last : end
        return (found, next.map { String($0) })
    }

    static func scanSQL(hint: String, condition: String) -> String {
        """
        SELECT \(DeliveryRecord.columns)
        FROM deliveries d \(hint) CROSS JOIN events e ON e.id = d.event CROSS JOIN endpoints p ON p.id = d.endpoint
        WHERE \(condition) d.id < ?1 AND d.id >= ?2
            AND (?3 IS NULL OR instr(?3, ',' || d.state || ',') > 0) AND (?4 IS NULL OR d.endpoint = ?4)
            AND (?5 IS NULL OR e.game = ?5) AND (?6 IS NULL OR e.player = ?6) AND (?7 IS NULL OR e.kind = ?7)
            AND (?8 IS NULL OR e.item = ?8) AND (?9 IS NULL OR d.uid = ?9) AND (?10 IS NULL OR d.uid = ?10)
            AND (?11 IS NULL OR e.player LIKE ?11 ESCAPE '\\' OR e.item LIKE ?11 ESCAPE '\\'
                OR e.client_id LIKE ?11 ESCAPE '\\' OR CAST(e.metadata AS TEXT) LIKE ?11 ESCAPE '\\')
        ORDER BY d.id DESC
        """
    }

    /// A LIKE pattern for text that contains `text`.
    static func pattern(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
        return "%\(escaped)%"
    }

    /// One event with everything that is known of it, if `uid` submitted it (nil: anyone).
    package func show(key: EventKey, visibleTo uid: UInt32?) throws(StoreError) -> EventRecord? {
        let found = try database.first(
            "SELECT \(Event.columns), e.id FROM events e WHERE e.key = ?1 AND (?2 IS NULL OR e.uid = ?2)",
            SQLValue(key.bytes), SQLValue(uid.map { Int64($0) })
        ) { (Event($0), $0.integer(Event.columnCount)) }
        guard let (event, id) = found else { return nil }
        return EventRecord(event: event, deliveries: try deliveries(of: id))
    }

    /// The event that a user submitted under an id of their own.
    package func show(clientID: String, game: String, uid: UInt32) throws(StoreError) -> EventRecord? {
        let found = try database.first(
            "SELECT \(Event.columns), e.id FROM events e WHERE e.uid = ?1 AND e.game = ?2 AND e.client_id = ?3",
            SQLValue(uid), SQLValue(game), SQLValue(clientID)
        ) { (Event($0), $0.integer(Event.columnCount)) }
        guard let (event, id) = found else { return nil }
        return EventRecord(event: event, deliveries: try deliveries(of: id))
    }

    private func deliveries(of event: Int64) throws(StoreError) -> [EventRecord.Delivery] {
        let records = try database.rows(
            """
            SELECT \(DeliveryRecord.columns)
            FROM deliveries d CROSS JOIN events e ON e.id = d.event CROSS JOIN endpoints p ON p.id = d.endpoint
            WHERE d.event = ?1 ORDER BY d.id
            """, [SQLValue(event)]
        ) { DeliveryRecord($0) }
        var deliveries: [EventRecord.Delivery] = []
        for record in records { deliveries.append(.init(record: record, attempts: try attempts(of: record.id))) }
        return deliveries
    }

    private func attempts(of id: DeliveryID) throws(StoreError) -> [Attempt] {
        try database.rows(
            """
            SELECT number, started, duration, outcome, status, error, answer FROM attempts
            WHERE delivery = ?1 ORDER BY number
            """, [SQLValue(id.number)]
        ) { row in
            Outcome(rawValue: row.text(3)).map { outcome in
                Attempt(
                    number: Int(row.integer(0)), startedMilliseconds: row.integer(1),
                    durationMilliseconds: row.integer(2), outcome: outcome,
                    status: row.optionalInteger(4).map { Int($0) }, error: row.optionalText(5),
                    answer: row.optionalText(6))
            }
        }
    }
}
