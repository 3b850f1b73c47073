import KleosModel
import KleosSupport

/// Puts rows together to events, standings and notices.
struct SalvageReader {
    let scan: SalvageScan
    private let endpoints: [Int64: String]
    private let deliveriesByEvent: [Int64: [DeliveryID]]
    /// Deliveries in flight, with the letters that they went out with.
    private let flights: [Int64: Cargo.Item]

    init(_ scan: SalvageScan) {
        self.scan = scan
        endpoints = Dictionary(
            uniqueKeysWithValues: (scan.rows[.endpoints] ?? [:]).keys.compactMap { number in
                scan.row(EndpointRow.self, .endpoints, number).map { (number, $0.name) }
            })
        let queued = Set((scan.rows[.queue] ?? [:]).keys)
        let numbers = queued.union((scan.rows[.done] ?? [:]).keys)
        deliveriesByEvent = Dictionary(grouping: numbers.map(DeliveryID.init), by: \.event)
        var flying: [Int64: Cargo.Item] = [:]
        for number in (scan.rows[.flights] ?? [:]).keys.sorted() {
            guard let cargo = scan.row(FlightRow.self, .flights, number).flatMap({ Cargo($0.cargo) }) else { continue }
            for item in cargo.items where queued.contains(item.delivery) { flying[item.delivery] = item }
        }
        flights = flying
    }

    /// Events' row numbers, in the order in which they were recorded.
    var events: [Int64] { (scan.rows[.events] ?? [:]).keys.sorted() }

    /// How many events left only their deliveries.
    var lostEvents: Int { deliveriesByEvent.keys.count { scan.rows[.events]?[$0] == nil } }

    /// Reads an event; nil where a value in it is damaged.
    func event(_ number: Int64) -> SalvagedEvent? {
        guard let row = scan.row(EventRow.self, .events, number) else { return nil }
        let event = row.event(scan.row(OriginRow.self, .origins, row.origin))
        let deliveries = (deliveriesByEvent[number] ?? []).sorted().compactMap { delivery($0, row) }
        return SalvagedEvent(event: event, deliveries: deliveries)
    }

    /// Reads a delivery. A damaged outbox may have an old version of it in the queue beside the one that is done.
    private func delivery(_ id: DeliveryID, _ event: EventRow) -> SalvagedEvent.Delivery? {
        guard let endpoint = endpoints[id.endpoint] else { return nil }
        let row: DeliveryRow
        if let done = scan.row(DoneRow.self, .done, id.number) {
            row = DeliveryRow(done, event)
        } else if let queued = scan.row(QueueRow.self, .queue, id.number) {
            row = DeliveryRow(queued, event, isInFlight: flights[id.number] != nil)
        } else {
            return nil
        }
        var delivery = SalvagedEvent.Delivery(row, endpoint: endpoint)
        delivery.isReplacedForGood = isReplacedForGood(row)
        delivery.rendering = row.letter ?? flights[id.number]?.letter
        delivery.receipt = receipt(of: row)
        return delivery
    }

    /// Whether the contest in which a delivery gave way is over, or it was lost to something that was confirmed.
    private func isReplacedForGood(_ row: DeliveryRow) -> Bool {
        guard row.state == .superseded else { return false }
        guard let round = row.round, let worth = row.worth else { return true }
        guard let stream = scan.row(StreamRow.self, .streams, row.stream) else { return false }
        return round < stream.round || stream.settledWorth.flatMap { Worth.covers($0, worth) } == true
    }

    private func receipt(of row: DeliveryRow) -> [Attempt] {
        var attempts = (scan.attempts[row.id.number] ?? []).compactMap { place in
            scan.record(place).flatMap { AttemptRow.table.read($0.values, number: $0.rowID) }?.value
        }
        if let last = row.last { attempts.append(last) }
        return attempts.sorted { $0.number < $1.number }
    }

    /// What was confirmed in each stream.
    func standings() -> [SalvagedStanding] {
        (scan.rows[.streams] ?? [:]).keys.sorted().compactMap { number in
            guard let row = scan.row(StreamRow.self, .streams, number), let confirmed = row.confirmed,
                let endpoint = endpoints[row.endpoint]
            else { return nil }
            return SalvagedStanding(
                stream: StreamKey(
                    endpoint: endpoint, game: row.game, player: row.player, kind: row.kind, item: row.item),
                confirmed: confirmed)
        }
    }

    /// Notices that nobody was shown.
    func notices() -> [Notice] {
        (scan.rows[.notices] ?? [:]).keys.sorted().compactMap { number in
            scan.row(NoticeRecord.self, .notices, number).flatMap { $0.shown == nil ? $0.notice : nil }
        }
    }
}

extension SalvageScan {
    /// Reads the row of a table with a number; nil where it is not there, or damaged.
    func row<Row: Record>(_ type: Row.Type, _ table: Table, _ number: Int64) -> Row? {
        guard let record = rows[table]?[number].flatMap({ record($0) }) else { return nil }
        return Row.table.read(record.values, number: record.rowID)
    }
}
