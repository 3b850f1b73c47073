import KleosModel
import KleosSupport

/// What a game submitted, as the database keeps it.
struct EventRow: Record {
    var number: Int64 = 0
    var key = EventKey(high: 0, low: 0)
    var clientID: String?
    var game = ""
    var player = ""
    var kind = SubjectKind.score
    var item = ""
    var measure = StoredMeasure.Kind.value
    var amount: Int64 = 0
    var decimals = Decimals(0)
    var occurred: Int64?
    var metadata: [UInt8]?
    var wall: Int64 = 0
    var boot: Int64 = 0
    var monotonic: Int64 = 0
    var isSynchronized = false
    var uid: UInt32 = 0
    /// The process that handed it over.
    var origin: Int64 = 0
    /// Whether the key was made elsewhere, so that it does not lead to the number.
    var isImported = false

    static let table = Table<EventRow>(
        "events", alias: "e",
        indexes: ["CREATE INDEX events_imported ON events(key) WHERE imported = 1"])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number)
        columns.column("key", &key, check: "length(key) = 16")
        columns.column("client_id", &clientID)
        columns.column("game", &game)
        columns.column("player", &player)
        columns.column("kind", &kind)
        columns.column("item", &item)
        columns.column("measure", &measure)
        columns.column("amount", &amount)
        columns.column("decimals", &decimals, check: "decimals BETWEEN 0 AND 9")
        columns.column("occurred", &occurred)
        columns.column("metadata", &metadata)
        columns.column("wall", &wall)
        columns.column("boot", &boot)
        columns.column("monotonic", &monotonic)
        columns.column("synchronized", &isSynchronized)
        columns.column("uid", &uid)
        columns.column("origin", &origin)
        columns.column("imported", &isImported)
    }

    init() {}

    /// Makes the row of `event`, which the process `origin` handed over.
    init(_ event: Event, number: Int64, origin: Int64, isImported: Bool) {
        let stored = StoredMeasure(event.subject)
        self.number = number
        key = event.key
        clientID = event.clientID
        game = event.game
        player = event.player
        kind = event.subject.kind
        item = event.subject.item
        measure = stored.kind
        amount = stored.amount
        decimals = Decimals(stored.decimals)
        occurred = event.occurredAtMilliseconds
        metadata = event.metadata
        wall = event.recorded.wallMilliseconds
        boot = event.recorded.bootMilliseconds
        monotonic = event.recorded.monotonicMilliseconds
        isSynchronized = event.recorded.isSynchronized
        uid = event.submitter.uid
        self.origin = origin
        self.isImported = isImported
    }

    var subject: Subject { StoredMeasure(kind: measure, amount: amount, decimals: decimals.count).subject(item: item) }

    /// The event; `origin` is the row that its number leads to, nil where that is lost.
    func event(_ origin: OriginRow?) -> Event {
        Event(
            key: key, clientID: clientID, game: game, player: player, subject: subject,
            occurredAtMilliseconds: occurred, metadata: metadata,
            recorded: ClockReading(
                wallMilliseconds: wall, bootMilliseconds: boot, monotonicMilliseconds: monotonic,
                bootID: origin?.bootID ?? "", isSynchronized: isSynchronized),
            submitter: Submitter(
                uid: uid, pid: origin?.pid ?? 0, executable: origin?.executable, unit: origin?.unit))
    }
}

/// A process that handed events over, in one boot. A process that goes on and on has several, so that each can go once
/// its events are gone.
struct OriginRow: Record {
    var number: Int64 = 0
    /// Finds the row; the full values decide.
    var hash: Int64 = 0
    var uid: UInt32 = 0
    var pid: Int32 = 0
    var bootID = ""
    var executable: String?
    var unit: String?
    /// The first event that names it; later ones do so up to `window` events on.
    var firstEvent: Int64 = 0

    /// How many numbers of events one row serves.
    static let window: Int64 = 4_096

    static let table = Table<OriginRow>(
        "origins", alias: "o",
        indexes: ["CREATE INDEX origins_hash ON origins(hash, id)"])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number)
        columns.column("hash", &hash)
        columns.column("uid", &uid)
        columns.column("pid", &pid)
        columns.column("boot_id", &bootID)
        columns.column("executable", &executable)
        columns.column("unit", &unit)
        columns.column("first_event", &firstEvent)
    }
}

/// The client's own id of an event; it outlives the event, so that the same id never counts twice.
struct ClientIDRow: Record {
    /// Of user, game and id.
    var hash: [UInt8] = []
    /// The event's, which is answered also when the event is gone.
    var key = EventKey(high: 0, low: 0)
    /// Of what the client decided about, for when the event is gone.
    var content: Int64 = 0
    /// When it was recorded, days since 1970; 0 where no time source disciplined the clock, until one does.
    var day: Int64 = 0

    static let table = Table<ClientIDRow>("client_ids", alias: "i")

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("hash", &hash, check: "length(hash) = 16")
        columns.column("key", &key)
        columns.column("content", &content)
        columns.column("day", &day)
    }
}
