import KleosModel
import KleosSupport

extension EventKey {
    /// The sixteen bytes, most significant first.
    var bytes: [UInt8] {
        // Sound: the loop fills all of the 16 bytes.
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            for index in 0..<8 {
                buffer[index] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * index))
                buffer[index + 8] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index))
            }
            count = 16
        }
    }

    /// Reads sixteen bytes, most significant first; nil for any other number of bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Reads a key; one that the schema's CHECK would not let in is damage.
    init(_ row: Statement, _ column: Int32) {
        if let key = EventKey(bytes: row.bytes(column)) {
            self = key
        } else {
            row.reportDamage("an event's key has not its sixteen bytes")
            self.init(high: 0, low: 0)
        }
    }
}

extension BoardKey {
    static let columns = "e.game, e.item, e.measure, e.amount, e.decimals"

    /// Reads a board whose columns begin at `column`.
    init(_ row: Statement, _ column: Int32) {
        let item = row.text(column + 1)
        self.init(
            game: row.text(column), kind: StoredMeasure(row, column + 2).subject(item: item).kind, item: item)
    }
}

extension Event {
    static let columns = """
        e.key, e.client_id, e.game, e.player, e.item, e.measure, e.amount, e.decimals, e.occurred, e.metadata, \
        e.wall, e.boot, e.monotonic, e.boot_id, e.synchronized, e.uid, e.pid, e.executable, e.unit
        """

    /// How many columns there are.
    static let columnCount: Int32 = 19

    /// Reads an event whose columns begin at `offset`.
    init(_ row: Statement, offset: Int32 = 0) {
        let measure = StoredMeasure(row, offset + 5)
        self.init(
            key: EventKey(row, offset), clientID: row.optionalText(offset + 1),
            game: row.text(offset + 2), player: row.text(offset + 3),
            subject: measure.subject(item: row.text(offset + 4)),
            occurredAtMilliseconds: row.optionalInteger(offset + 8), metadata: row.optionalBytes(offset + 9),
            recorded: ClockReading(
                wallMilliseconds: row.integer(offset + 10), bootMilliseconds: row.integer(offset + 11),
                monotonicMilliseconds: row.integer(offset + 12), bootID: row.text(offset + 13),
                isSynchronized: row.flag(offset + 14)),
            submitter: Submitter(
                uid: UInt32(truncatingIfNeeded: row.integer(offset + 15)),
                pid: Int32(truncatingIfNeeded: row.integer(offset + 16)), executable: row.optionalText(offset + 17),
                unit: row.optionalText(offset + 18)))
    }

    /// Whether `other`, which came later, says the same: everything that the client decides about. Where it names no
    /// time, this event's own time may have been put in for it.
    func hasSameContent(as other: Event) -> Bool {
        return ExactText.same(game, other.game) && ExactText.same(player, other.player)
            && subject.kind == other.subject.kind
            && ExactText.same(subject.item, other.subject.item) && subject == other.subject
            && hasSameTime(as: other) && metadata == other.metadata
    }
}

extension Event {
    fileprivate func hasSameTime(as other: Event) -> Bool {
        other.isTimeAssumed || other.occurredAtMilliseconds == nil
            || occurredAtMilliseconds == other.occurredAtMilliseconds
    }
}

extension Outbox {
    /// Writes an event and returns its row number.
    func insert(_ event: Event) throws(StoreError) -> Int64 {
        let measure = StoredMeasure(event.subject)
        try database.run(
            """
            INSERT INTO events(key, client_id, game, player, kind, item, measure, amount, decimals, occurred, metadata,
                wall, boot, monotonic, boot_id, synchronized, uid, pid, executable, unit)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
            """,
            SQLValue(event.key.bytes), SQLValue(event.clientID), SQLValue(event.game), SQLValue(event.player),
            SQLValue(event.subject.kind.rawValue), SQLValue(event.subject.item), SQLValue(measure.name),
            SQLValue(measure.amount), SQLValue(measure.decimals), SQLValue(event.occurredAtMilliseconds),
            SQLValue(event.metadata), SQLValue(event.recorded.wallMilliseconds),
            SQLValue(event.recorded.bootMilliseconds), SQLValue(event.recorded.monotonicMilliseconds),
            SQLValue(event.recorded.bootID), SQLValue(event.recorded.isSynchronized), SQLValue(event.submitter.uid),
            .integer(Int64(event.submitter.pid)), SQLValue(event.submitter.executable),
            SQLValue(event.submitter.unit))
        countAdded(event)
        return database.lastRowID
    }
}
