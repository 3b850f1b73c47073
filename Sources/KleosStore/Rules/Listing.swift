package import KleosModel

extension Outbox {
    /// How many deliveries one turn of a list looks at.
    static let scannedPerTurn = 1_000
    /// How many bytes a page has at most, about.
    static let pageBytes = 256 * 1_024
    /// How many deliveries a page has at most.
    static let pageDeliveries = 500

    private static let queueSQL = SQL("\(Deliveries.selectQueue) WHERE q.id < ?1 ORDER BY q.id DESC LIMIT ?2")
    private static let doneSQL = SQL("\(Deliveries.selectDone) WHERE d.id < ?1 ORDER BY d.id DESC LIMIT ?2")
    private static let heldSQL = SQL(
        "\(Deliveries.selectQueue) WHERE q.state = 2 AND q.id < ?1 ORDER BY q.id DESC LIMIT ?2")
    private static let deadSQL = SQL(
        "\(Deliveries.selectDone) WHERE d.state = 6 AND d.id < ?1 ORDER BY d.id DESC LIMIT ?2")

    /// Deliveries that fit `filter`, the newest first, that `uid` submitted (nil: anyone). A page may be short or empty
    /// although more follow: then it has a cursor to go on with. Throws `invalidCursor` for a cursor of other making.
    package func list(
        _ filter: DeliveryFilter, visibleTo uid: UInt32?, cursor: String? = nil, limit: Int
    ) throws(StoreError) -> DeliveryPage {
        var bytes = 0
        let limit = min(max(1, limit), Self.pageDeliveries)
        let page = try scan(filter, visibleTo: uid, cursor: cursor, limit: limit)
        var records: [DeliveryRecord] = []
        for row in page.found {
            let record = try record(row)
            bytes += record.approximateBytes
            guard bytes <= Self.pageBytes else {
                return DeliveryPage(deliveries: records, cursor: records.last.map { String($0.id.number) })
            }
            records.append(record)
        }
        return DeliveryPage(deliveries: records, cursor: page.cursor)
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
    func scan(
        _ filter: DeliveryFilter, visibleTo uid: UInt32?, cursor: String?, limit: Int
    ) throws(StoreError) -> (found: [DeliveryRow], cursor: String?) {
        let start = try Self.number(of: cursor) ?? .max
        var endpoint: Int64?
        if let name = filter.endpoint {
            guard let id = try endpoints.id(name) else { return ([], nil) }
            endpoint = id
        }
        let looked = try walk(filter.states, before: start)
        var found: [DeliveryRow] = []
        for row in looked.rows where filter.fits(row, endpoint: endpoint, visibleTo: uid) {
            found.append(row)
            if found.count == limit { return (found, String(row.id.number)) }
        }
        return (found, looked.hasMore ? looked.rows.last.map { String($0.id.number) } : nil)
    }

    /// The next deliveries of the tables and indexes in which `states` are, the newest first.
    private func walk(
        _ states: Set<DeliveryState>, before start: Int64
    ) throws(StoreError) -> (rows: [DeliveryRow], hasMore: Bool) {
        let values = [SQLValue(start), SQLValue(Self.scannedPerTurn)]
        if states == [.sending] {
            let ids = flights.deliveries.reversed().filter { $0 < start }
            var rows: [DeliveryRow] = []
            for id in ids.prefix(Self.scannedPerTurn) {
                if let row = try deliveries.queued(DeliveryID(id)) { rows.append(row) }
            }
            return (rows, ids.count > Self.scannedPerTurn)
        }
        let isQueued = states.isEmpty || states.contains(where: \.isUnsettled)
        let isDone = states.isEmpty || states.contains { !$0.isUnsettled }
        let queueSQL = states == [.held] || states == [.held, .dead] ? Self.heldSQL : Self.queueSQL
        let doneSQL = states == [.dead] || states == [.held, .dead] ? Self.deadSQL : Self.doneSQL
        let queued = isQueued ? try database.rows(queueSQL, values) { deliveries.queued($0) } : []
        let done = isDone ? try database.rows(doneSQL, values) { deliveries.done($0) } : []
        var rows = (queued + done).sorted { $0.id > $1.id }
        let hasMore = queued.count == Self.scannedPerTurn || done.count == Self.scannedPerTurn
        // Behind the end of the shorter walk the other table may have more.
        let ends = [queued, done].filter { $0.count == Self.scannedPerTurn }.compactMap { $0.last?.id }
        if let end = ends.max() { rows.removeAll { $0.id < end } }
        return (rows, hasMore)
    }

    /// The delivery as it is listed.
    func record(_ row: DeliveryRow) throws(StoreError) -> DeliveryRecord {
        let event = row.event
        return DeliveryRecord(
            id: row.id, key: row.key, clientID: event.clientID, endpoint: try endpoints.name(row.id.endpoint),
            game: event.game, player: event.player, subject: event.subject, uid: row.uid, state: row.state,
            reason: row.reason, message: row.message, priority: row.weight, attempts: row.attempts,
            dueMilliseconds: row.state == .ready ? row.due ?? event.wall : nil, createdMilliseconds: event.wall,
            occurredMilliseconds: event.occurred ?? event.wall, settledMilliseconds: row.settled,
            supersededBy: try superseder(of: row), confirmation: row.state == .delivered ? row.confirmation : nil)
    }

    /// The event that a delivery gave way to in the end; nil where it gave way to none, or that one is gone.
    private func superseder(of row: DeliveryRow) throws(StoreError) -> EventKey? {
        guard row.state == .superseded, let first = row.superseder else { return nil }
        var next = first
        var seen: EventKey?
        // Of a longer chain one in the middle is named, which names what it gave way to itself.
        for _ in 0..<64 {
            guard let other = try deliveries.row(DeliveryID(next)) else { return seen }
            seen = other.key
            switch other.state {
            case .superseded:
                guard let further = other.superseder else { return other.key }
                next = further
            case .dead, .discarded: return try champion(of: row)?.key
            default: return other.key
            }
        }
        return seen
    }

    /// What took the place of something that ended without a confirmation: what is under way, else what was confirmed.
    private func champion(of row: DeliveryRow) throws(StoreError) -> DeliveryRow? {
        let worth = row.worth ?? []
        let better = try underWay(row.stream).filter { $0.worth.flatMap { Worth.covers($0, worth) } == true }
        if let last = better.last { return last }
        guard let winner = try streams.row(row.stream)?.winner, winner != row.id.number else { return nil }
        return try deliveries.row(DeliveryID(winner))
    }

    /// One event with everything that is known of it, if `uid` submitted it (nil: anyone).
    package func show(key: EventKey, visibleTo uid: UInt32?) throws(StoreError) -> EventRecord? {
        guard let number = try events.number(of: key), let row = try events.row(number), uid == nil || row.uid == uid
        else { return nil }
        return try show(row)
    }

    /// The event that a user submitted under an id of their own.
    package func show(clientID: String, game: String, uid: UInt32) throws(StoreError) -> EventRecord? {
        guard let known = try events.earlier(uid: uid, game: game, clientID: clientID),
            let row = try events.row(known.key), row.uid == uid,
            row.clientID.map({ ExactText.same($0, clientID) }) == true
        else { return nil }
        return try show(row)
    }

    private func show(_ event: EventRow) throws(StoreError) -> EventRecord {
        var found: [EventRecord.Delivery] = []
        for row in try deliveries.rows(ofEvent: event.number) {
            found.append(.init(record: try record(row), attempts: try deliveries.attempts(of: row)))
        }
        return EventRecord(event: try events.event(event), deliveries: found)
    }
}

extension DeliveryRecord {
    /// About how many bytes the record takes in an answer.
    var approximateBytes: Int {
        512 + player.utf8.count + subject.item.utf8.count + (clientID?.utf8.count ?? 0) + (message?.utf8.count ?? 0)
            + (confirmation?.best?.utf8.count ?? 0)
    }
}

extension DeliveryFilter {
    /// Whether a delivery is meant; `endpoint` is the number of the one that the filter names.
    fileprivate func fits(_ row: DeliveryRow, endpoint: Int64?, visibleTo uid: UInt32?) -> Bool {
        if !states.isEmpty, !states.contains(row.state) { return false }
        if let endpoint, row.id.endpoint != endpoint { return false }
        if let uid, row.uid != uid { return false }
        if let wanted = self.uid, row.uid != wanted { return false }
        let event = row.event
        if let game, !ExactText.same(game, event.game) { return false }
        if let player, !ExactText.same(player, event.player) { return false }
        if let kind, kind != event.kind { return false }
        if let item, !ExactText.same(item, event.item) { return false }
        guard let text else { return true }
        let texts = [event.player, event.item, event.clientID ?? ""].map { Array($0.utf8) } + [event.metadata ?? []]
        let wanted = Array(text.utf8).map(Self.lowercased)
        return texts.contains { Self.contains($0, wanted) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

    /// Whether `text` has `wanted` in it, whatever the case of ASCII letters.
    private static func contains(_ text: [UInt8], _ wanted: [UInt8]) -> Bool {
        guard text.count >= wanted.count else { return false }
        return (0...(text.count - wanted.count)).contains { start in
            wanted.indices.allSatisfy { lowercased(text[start + $0]) == wanted[$0] }
        }
    }
}
