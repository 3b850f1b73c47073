import KleosModel
import KleosSupport

/// The events, the processes that they came from, and the ids that clients gave them.
final class Events {
    private let database: Connection
    private let secret: StoreSecret
    private var origins: [OriginKey: OriginRow] = [:]
    /// Rows by number, for events that are read one after another.
    private var originRows: [Int64: OriginRow] = [:]
    private var nextNumber: Int64?

    private struct OriginKey: Hashable {
        var uid: UInt32
        var pid: Int32
        var bootID: String
        var executable: ExactKey?
        var unit: ExactKey?

        init(_ event: Event) {
            uid = event.submitter.uid
            pid = event.submitter.pid
            bootID = event.recorded.bootID
            executable = event.submitter.executable.map(ExactKey.init)
            unit = event.submitter.unit.map(ExactKey.init)
        }

        init(_ row: OriginRow) {
            uid = row.uid
            pid = row.pid
            bootID = row.bootID
            executable = row.executable.map(ExactKey.init)
            unit = row.unit.map(ExactKey.init)
        }
    }

    init(_ database: Connection, secret: StoreSecret) {
        self.database = database
        self.secret = secret
    }

    private static let lastSQL = SQL("SELECT max(id) FROM events")
    private static let firstSQL = SQL("SELECT min(id) FROM events")
    private static let importedSQL = SQL("SELECT id FROM events WHERE key = ?1 AND imported = 1")
    private static let keySQL = SQL("SELECT key FROM events WHERE id = ?1")
    private static let originSQL = SQL(
        "SELECT \(OriginRow.table.list) FROM origins o WHERE o.hash = ?1 ORDER BY o.id DESC LIMIT 8")
    private static let lastOriginSQL = SQL("SELECT max(id) FROM origins")

    /// The number of the newest event; 0 where there is none. Throws `StoreError`.
    func last() throws(StoreError) -> Int64 {
        if let nextNumber { return nextNumber - 1 }
        let last = try database.integer(Self.lastSQL) ?? 0
        nextNumber = last + 1
        return last
    }

    /// The number of the oldest event; 0 where there is none. Throws `StoreError`.
    func first() throws(StoreError) -> Int64 { try database.integer(Self.firstSQL) ?? 0 }

    /// `key` with the number of the next event in its random part, so that it is found without an index. Throws
    /// `StoreError`.
    func key(_ key: EventKey) throws(StoreError) -> EventKey { secret.key(key, carrying: try last() + 1) }

    /// Writes an event. A key that does not carry its number, as one of another machine, is indexed. Returns the row.
    /// Throws `StoreError`.
    func insert(_ event: Event) throws(StoreError) -> EventRow {
        let number = try last() + 1
        let row = EventRow(
            event, number: number, origin: try origin(of: event, number: number),
            isImported: secret.number(in: event.key) != number)
        try database.insert(row)
        nextNumber = number + 1
        if let clientID = event.clientID {
            var id = ClientIDRow()
            id.hash = secret.hash(uid: event.submitter.uid, game: event.game, clientID: clientID)
            id.key = event.key
            id.content = secret.content(of: event)
            id.day = event.recorded.isSynchronized ? event.recorded.wallMilliseconds / 86_400_000 : 0
            try database.insert(id)
        }
        return row
    }

    private func origin(of event: Event, number: Int64) throws(StoreError) -> Int64 {
        let key = OriginKey(event)
        if let row = origins[key], row.firstEvent + OriginRow.window > number { return row.number }
        let texts = [event.recorded.bootID, event.submitter.executable ?? "", event.submitter.unit ?? ""]
        let hash = KeyHash.number(
            Int64(event.submitter.uid) << 32 | Int64(UInt32(bitPattern: event.submitter.pid)), texts)
        let found = try database.rows(Self.originSQL, [SQLValue(hash)]) { OriginRow.table.read($0) }
        if let row = found.first(where: { OriginKey($0) == key }), row.firstEvent + OriginRow.window > number {
            remember(row, as: key)
            return row.number
        }
        var row = OriginRow()
        row.number = (try database.integer(Self.lastOriginSQL) ?? 0) + 1
        (row.hash, row.uid, row.pid, row.bootID) = (hash, key.uid, key.pid, key.bootID)
        (row.executable, row.unit, row.firstEvent) = (event.submitter.executable, event.submitter.unit, number)
        try database.insert(row)
        remember(row, as: key)
        return row.number
    }

    private func remember(_ row: OriginRow, as key: OriginKey) {
        if origins.count >= 256 { origins.removeAll(keepingCapacity: true) }
        origins[key] = row
    }

    /// The event of `row`, with what is known of the process that it came from. Throws `StoreError`.
    func event(_ row: EventRow) throws(StoreError) -> Event {
        if let origin = originRows[row.origin] { return row.event(origin) }
        let origin = try database.find(OriginRow.self, SQLValue(row.origin))
        if let origin {
            if originRows.count >= 64 { originRows.removeAll(keepingCapacity: true) }
            originRows[row.origin] = origin
        }
        return row.event(origin)
    }

    /// The event with the key; nil where there is none. Throws `StoreError`.
    func row(_ key: EventKey) throws(StoreError) -> EventRow? {
        guard let number = try number(of: key) else { return nil }
        return try row(number)
    }

    /// The event with the number; nil where there is none. Throws `StoreError`.
    func row(_ number: Int64) throws(StoreError) -> EventRow? {
        try database.find(EventRow.self, SQLValue(number))
    }

    /// The number of the event with the key; nil where there is none. Throws `StoreError`.
    func number(of key: EventKey) throws(StoreError) -> Int64? {
        let number = secret.number(in: key)
        let found = try database.first(Self.keySQL, SQLValue(number)) { EventKey.init($0.value(0)) }
        if found == key { return number }
        return try database.integer(Self.importedSQL, key.stored)
    }

    /// What was recorded under the client's id before; nil where nothing was. Throws `StoreError`.
    func earlier(uid: UInt32, game: String, clientID: String) throws(StoreError) -> ClientIDRow? {
        try database.find(ClientIDRow.self, .blob(secret.hash(uid: uid, game: game, clientID: clientID)))
    }

    /// Forgets a client's id, so that it can be used again. Throws `StoreError`.
    func forgetID(uid: UInt32, game: String, clientID: String) throws(StoreError) {
        try database.delete(ClientIDRow.self, .blob(secret.hash(uid: uid, game: game, clientID: clientID)))
    }

    /// Whether `event` is what was recorded in a row whose event is gone.
    func isSame(_ event: Event, as row: ClientIDRow) -> Bool { secret.content(of: event) == row.content }

    /// Removes an event. Its client's id stays known. Throws `StoreError`.
    func remove(_ number: Int64) throws(StoreError) {
        try database.delete(EventRow.self, SQLValue(number))
        // Numbers of the newest events are given again, as their keys differ.
        if number + 1 == nextNumber { nextNumber = nil }
    }

    /// Forgets what was read; called after ROLLBACK.
    func forget() {
        origins.removeAll()
        originRows.removeAll()
        nextNumber = nil
    }
}

extension EventRow {
    /// Whether `other`, which came later, says the same: everything that the client decides about. Where it names no
    /// time, this event's own time may have been put in for it.
    func hasSameContent(as other: Event) -> Bool {
        let hasSameTime =
            other.isTimeAssumed || other.occurredAtMilliseconds == nil || occurred == other.occurredAtMilliseconds
        return ExactText.same(game, other.game) && ExactText.same(player, other.player)
            && kind == other.subject.kind && ExactText.same(item, other.subject.item) && subject == other.subject
            && hasSameTime && metadata == other.metadata
    }

    /// About what the event takes on disk, its deliveries left out: reckoned from its own length, so that adding it
    /// and taking it away give the same.
    var approximateBytes: Int64 {
        let texts = player.utf8.count + item.utf8.count + 2 * (clientID?.utf8.count ?? 0) + 2 * (metadata?.count ?? 0)
        return 192 + Int64(texts)
    }
}
