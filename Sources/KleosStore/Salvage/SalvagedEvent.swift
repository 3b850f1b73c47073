import KleosModel
import KleosSupport

/// Puts rows together to events, standings and notices.
struct SalvageReader {
    let scan: SalvageScan
    private let endpoints: [Int64: String]
    private let deliveriesByEvent: [Int64: [Int64]]

    init(_ scan: SalvageScan) {
        self.scan = scan
        endpoints = (scan.rows[.endpoints] ?? [:]).compactMapValues { scan.record($0)?.values[1].text }
        var byEvent: [Int64: [Int64]] = [:]
        for (id, place) in scan.rows[.deliveries] ?? [:] {
            if let event = scan.record(place)?.values[1].integer { byEvent[event, default: []].append(id) }
        }
        deliveriesByEvent = byEvent
    }

    /// Events' row numbers, in the order in which they were recorded.
    var events: [Int64] { (scan.rows[.events] ?? [:]).keys.sorted() }

    /// How many events left only their deliveries.
    var lostEvents: Int { deliveriesByEvent.keys.count { scan.rows[.events]?[$0] == nil } }

    /// Reads an event; nil where a value in it is damaged.
    func event(_ id: Int64) -> SalvagedEvent? {
        guard let place = scan.rows[.events]?[id], let values = scan.record(place)?.values,
            let event = Self.event(values)
        else { return nil }
        var deliveries: [SalvagedEvent.Delivery] = []
        for delivery in (deliveriesByEvent[id] ?? []).sorted().compactMap(delivery) {
            // A damaged outbox may have an old version of a delivery beside the new one.
            if let index = deliveries.firstIndex(where: { $0.endpoint == delivery.endpoint }) {
                if delivery.state == .delivered { deliveries[index] = delivery }
            } else {
                deliveries.append(delivery)
            }
        }
        return SalvagedEvent(event: event, deliveries: deliveries)
    }

    private static func decimals(_ value: RecordValue) -> Int {
        value.integer.flatMap { (0...9).contains($0) ? Int($0) : nil } ?? 0
    }

    private static func event(_ row: [RecordValue]) -> Event? {
        guard let key = row[1].blob.flatMap(EventKey.init(bytes:)), let game = row[3].text, let player = row[4].text,
            let item = row[6].text, let measure = row[7].text, let amount = row[8].integer,
            let decimals = row[9].integer, (0...9).contains(decimals), let wall = row[12].integer,
            let uid = row[17].integer.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        let stored = StoredMeasure(name: measure, amount: amount, decimals: Int(decimals))
        return Event(
            key: key, clientID: row[2].text, game: game, player: player, subject: stored.subject(item: item),
            occurredAtMilliseconds: row[10].integer, metadata: row[11].blob,
            recorded: ClockReading(
                wallMilliseconds: wall, bootMilliseconds: row[13].integer ?? 0,
                monotonicMilliseconds: row[14].integer ?? 0, bootID: row[15].text ?? "",
                isSynchronized: row[16].integer == 1),
            submitter: Submitter(
                uid: uid, pid: Int32(truncatingIfNeeded: row[18].integer ?? 0), executable: row[19].text,
                unit: row[20].text))
    }

    private func delivery(_ id: Int64) -> SalvagedEvent.Delivery? {
        guard let place = scan.rows[.deliveries]?[id], let row = scan.record(place)?.values,
            let endpoint = row[3].integer.flatMap({ endpoints[$0] }),
            let state = row[5].text.flatMap(DeliveryState.init), let merge = row[8].integer,
            let priority = row[10].integer.flatMap({ DeliveryPriority(rawValue: Int($0)) })
        else { return nil }
        return SalvagedEvent.Delivery(
            endpoint: endpoint,
            way: FanOut(
                endpoint: endpoint, merge: MergeRule(code: merge), isStrict: row[9].integer == 1, priority: priority,
                confirms: row[11].integer == 1),
            state: state, reason: row[6].text, message: row[7].text, dueMilliseconds: row[12].integer ?? 0,
            attempts: row[14].integer ?? 0, inherited: row[15].integer ?? 0, serverErrors: row[16].integer ?? 0,
            isUnanswered: row[17].integer == 1, ignoresAge: row[18].integer == 1,
            isDiscarded: row[19].text == "discard", settledMilliseconds: row[22].integer,
            confirmation: Confirmation(
                rank: row[23].integer, best: row[24].text, changed: row[25].integer.map { $0 == 1 },
                unlocked: row[26].integer.map { $0 == 1 }),
            isReplacedForGood: isReplacedForGood(row), rendering: rendering(of: id), receipt: receipt(of: id))
    }

    /// Follows what replaced a delivery to its end; a circle, which only damage makes, ends too.
    private func isReplacedForGood(_ row: [RecordValue]) -> Bool {
        guard row[5].text == DeliveryState.superseded.rawValue else { return false }
        guard var next = row[20].integer else { return true }
        for _ in 0..<1_000 {
            guard let place = scan.rows[.deliveries]?[next], let superseder = scan.record(place)?.values else {
                return false
            }
            switch superseder[5].text.flatMap(DeliveryState.init) {
            case .delivered: return true
            case .superseded:
                guard let further = superseder[20].integer else { return true }
                next = further
            default: return false
            }
        }
        return false
    }

    private func rendering(of delivery: Int64) -> [UInt8]? {
        scan.rows[.renderings]?[delivery].flatMap { scan.record($0)?.values[1].blob }
    }

    private func receipt(of delivery: Int64) -> [Attempt] {
        (scan.attempts[delivery] ?? []).compactMap { place in
            guard let row = scan.record(place)?.values, let number = row[1].integer, number > 0,
                let started = row[2].integer, let outcome = row[4].text.flatMap(Outcome.init)
            else { return nil }
            return Attempt(
                number: Int(clamping: number), startedMilliseconds: started,
                durationMilliseconds: row[3].integer ?? 0, outcome: outcome,
                status: row[5].integer.map { Int(clamping: $0) }, error: row[6].text, answer: row[7].text)
        }
    }

    /// What was confirmed in each stream.
    func standings() -> [SalvagedStanding] {
        (scan.rows[.standing] ?? [:]).sorted { $0.key < $1.key }.compactMap { _, place in
            guard let row = scan.record(place)?.values, let endpoint = row[2].integer.flatMap({ endpoints[$0] }),
                let game = row[3].text, let player = row[4].text, let kind = row[5].text.flatMap(SubjectKind.init),
                let item = row[6].text, let measure = row[7].text, let amount = row[8].integer
            else { return nil }
            let stored = StoredMeasure(
                name: measure, amount: amount, decimals: Self.decimals(row[9]))
            return stored.measure.map {
                SalvagedStanding(
                    stream: StreamKey(endpoint: endpoint, game: game, player: player, kind: kind, item: item),
                    confirmed: StandingMark(
                        measure: $0, atMilliseconds: row[10].integer ?? 0, rank: row[11].integer))
            }
        }
    }

    /// Notices that nobody was shown.
    func notices() -> [Notice] {
        (scan.rows[.notices] ?? [:]).sorted { $0.key < $1.key }.compactMap { number, place in
            guard let row = scan.record(place)?.values, row[15] == .null,
                let key = row[1].blob.flatMap(EventKey.init(bytes:)), let game = row[2].text,
                let player = row[3].text, let uid = row[4].integer.flatMap({ UInt32(exactly: $0) }),
                let kind = row[5].text.flatMap(SubjectKind.init), let item = row[6].text
            else { return nil }
            let value = row[7].integer.map { ScoreValue(units: $0, decimals: Self.decimals(row[8])) }
            return Notice(
                number: number, key: key, game: game, player: player, uid: uid,
                facts: NoticeFacts(
                    kind: kind, item: item, value: value, rank: row[9].integer,
                    changed: row[10].integer.map { $0 == 1 }),
                createdMilliseconds: row[11].integer ?? 0)
        }
    }
}
