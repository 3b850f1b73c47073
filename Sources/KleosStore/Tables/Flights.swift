import KleosModel

/// What is in flight: known in memory, and on disk before anything goes out. A delivery in flight is not touched until
/// it settles.
final class Flights {
    private let database: Connection
    /// Which flight a delivery is in, and when that was claimed.
    private var members: [Int64: Member] = [:]
    private var counts: [Int64: Int] = [:]
    /// Deliveries in flight by stream, where streams have heads.
    private var heads: [Int64: Int] = [:]
    /// Of the open transaction; written at its end.
    private var boarding: [Cargo.Item] = []
    private var boardingTime: Int64 = 0
    private var next: Int64 = 1
    /// Flights that have to be written again, because something in them returned to the queue.
    private var changed: Set<Int64> = []
    /// Deliveries that left the queue, by the flight that still lists them on disk because others of it go on.
    private var gone: [Int64: Int64] = [:]
    /// How often something here was changed; it tells whether work did anything before its transaction writes it.
    private(set) var changes = 0

    private struct Member {
        var flight: Int64
        var claimed: Int64
        /// Its stream, where that has a head; else 0.
        var head: Int64
    }

    init(_ database: Connection) { self.database = database }

    private static let isQueuedSQL = SQL("SELECT 1 FROM queue WHERE id = ?1")
    private static let clearSQL = SQL("DELETE FROM flights")
    private static let anySQL = SQL("SELECT 1 FROM flights LIMIT 1")
    private static let allSQL = SQL("SELECT \(FlightRow.table.list) FROM flights f ORDER BY f.id")

    /// Whether the delivery is in flight.
    func contains(_ delivery: Int64) -> Bool { members[delivery] != nil }

    /// When the delivery was claimed, Unix milliseconds; nil where it is not in flight.
    func claimed(_ delivery: Int64) -> Int64? { members[delivery]?.claimed }

    /// Whether a delivery of the stream, which has a head, is in flight.
    func isHeadInFlight(_ stream: Int64) -> Bool { heads[stream] != nil }

    /// All deliveries in flight, the oldest event first.
    var deliveries: [Int64] { members.keys.sorted() }

    /// How many are in flight to an endpoint.
    func count(endpoint: Int64) -> Int { members.keys.count { DeliveryID($0).endpoint == endpoint } }

    /// Takes a delivery on board; `head` is its stream where that has a head, else 0.
    func board(_ delivery: Int64, head: Int64, claimed: Int64) {
        boarding.append(Cargo.Item(delivery: delivery, head: head, letter: nil))
        boardingTime = claimed
        add(Member(flight: next, claimed: claimed, head: head), delivery)
    }

    private func add(_ member: Member, _ delivery: Int64) {
        changes += 1
        members[delivery] = member
        counts[member.flight, default: 0] += 1
        if member.head != 0 { heads[member.head, default: 0] += 1 }
    }

    /// Keeps the letter of a delivery that was just taken on board.
    func keep(_ letter: [UInt8], of delivery: Int64) {
        guard let index = boarding.firstIndex(where: { $0.delivery == delivery }) else { return }
        changes += 1
        boarding[index].letter = letter
    }

    /// The letter that a delivery in flight went out with; nil where none is kept. Throws `StoreError`.
    func letter(of delivery: Int64) throws(StoreError) -> [UInt8]? {
        if let item = boarding.first(where: { $0.delivery == delivery }) { return item.letter }
        guard let flight = members[delivery]?.flight, let row = try database.find(FlightRow.self, SQLValue(flight))
        else {
            return nil
        }
        return Cargo(row.cargo)?.items.first { $0.delivery == delivery }?.letter
    }

    /// Ends the flight of a delivery. One that leaves the queue with it need not be taken off the list on disk, since
    /// only what is in the queue counts there. Throws `StoreError`.
    func land(_ delivery: Int64, isBack: Bool) throws(StoreError) {
        guard let member = members.removeValue(forKey: delivery) else { return }
        changes += 1
        boarding.removeAll { $0.delivery == delivery }
        if member.head != 0 {
            let others = heads[member.head, default: 1] - 1
            heads[member.head] = others > 0 ? others : nil
        }
        let left = counts[member.flight, default: 1] - 1
        counts[member.flight] = left > 0 ? left : nil
        guard member.flight != next else { return }
        if left <= 0 {
            try database.delete(FlightRow.self, SQLValue(member.flight))
            changed.remove(member.flight)
            if !gone.isEmpty { gone = gone.filter { $0.value != member.flight } }
        } else if isBack {
            changed.insert(member.flight)
        } else {
            gone[delivery] = member.flight
        }
    }

    /// Takes a delivery that comes into the queue off the list that it may still be on: it was sent to its end before,
    /// or its number was another's.
    func comesIntoQueue(_ delivery: Int64) {
        if let flight = gone.removeValue(forKey: delivery) { changed.insert(flight) }
    }

    /// Removes what is left on disk, once nothing is in flight any more. Throws `StoreError`.
    func clear() throws(StoreError) {
        // Nothing is written where there is nothing: the disk may be full.
        guard try database.integer(Self.anySQL) != nil else { return }
        try database.run(Self.clearSQL)
        gone.removeAll()
        changed.removeAll()
    }

    /// Writes what went on board; called before the COMMIT. Throws `StoreError`.
    func write() throws(StoreError) {
        for flight in changed.sorted() { try rewrite(flight) }
        changed.removeAll(keepingCapacity: true)
        guard !boarding.isEmpty else { return }
        var row = FlightRow()
        (row.number, row.claimed) = (next, boardingTime)
        row.cargo = Cargo(boarding).bytes
        try database.insert(row)
        next += 1
        boarding.removeAll(keepingCapacity: true)
    }

    private func rewrite(_ flight: Int64) throws(StoreError) {
        guard var row = try database.find(FlightRow.self, SQLValue(flight)), var cargo = Cargo(row.cargo) else {
            return
        }
        cargo.items.removeAll { members[$0.delivery]?.flight != flight }
        row.cargo = cargo.bytes
        try database.update(row)
    }

    /// Reads what is on disk; called at the start and after ROLLBACK. Throws `StoreError`.
    func read() throws(StoreError) {
        members.removeAll()
        counts.removeAll()
        heads.removeAll()
        changed.removeAll()
        boarding.removeAll()
        gone.removeAll()
        next = 1
        for row in try database.rows(Self.allSQL, read: { FlightRow.table.read($0) }) {
            guard let cargo = Cargo(row.cargo) else {
                throw StoreError(
                    .damaged, operation: "read what is in flight",
                    message: "flight \(row.number) cannot be read, so that nobody knows what was sent")
            }
            for item in cargo.items {
                guard try database.integer(Self.isQueuedSQL, SQLValue(item.delivery)) != nil else {
                    gone[item.delivery] = row.number
                    continue
                }
                add(Member(flight: row.number, claimed: row.claimed, head: item.head), item.delivery)
            }
            next = row.number + 1
        }
    }
}

/// What a flight carries, as bytes: for each delivery its number, its stream where that has a head, else 0, and its
/// letter after the length of that plus one, 0 where there is none; numbers of eight bytes, the greatest first.
struct Cargo {
    /// A delivery on board.
    struct Item: Equatable {
        var delivery: Int64
        var head: Int64
        var letter: [UInt8]?
    }

    var items: [Item]

    init(_ items: [Item]) { self.items = items }

    /// Reads the bytes; nil for anything else.
    init?(_ bytes: [UInt8]) {
        items = []
        var rest = bytes[...]
        func number() -> Int64? {
            guard rest.count >= 8 else { return nil }
            defer { rest = rest.dropFirst(8) }
            return Int64(bitPattern: rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
        while !rest.isEmpty {
            guard let delivery = number(), let head = number(), let length = number(), length >= 0,
                length <= rest.count + 1
            else { return nil }
            let letter = length == 0 ? nil : Array(rest.prefix(Int(length) - 1))
            rest = rest.dropFirst(max(0, Int(length) - 1))
            items.append(Item(delivery: delivery, head: head, letter: letter))
        }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ number: Int64) {
            for shift in (0..<8).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> Int64(8 * shift))) }
        }
        for item in items {
            add(item.delivery)
            add(item.head)
            add(item.letter.map { Int64($0.count) + 1 } ?? 0)
            bytes += item.letter ?? []
        }
        return bytes
    }
}
