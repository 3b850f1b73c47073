package import KleosModel
import KleosSupport

extension Outbox {
    /// `key` with what finds the event that is recorded next in its random part. A key without that is found, too, but
    /// costs an index.
    package func key(_ key: EventKey) throws(StoreError) -> EventKey { try events.key(key) }

    /// Records `event` with one delivery for each of `fanOut`, unless it was recorded before or there is no room.
    package func accept(_ event: Event, fanOut: [FanOut]) throws(StoreError) -> AcceptResult {
        if let earlier = try earlier(than: event) { return earlier }
        if let reason = try reasonToRefuse(event) { return .queueFull(reason) }
        let row = try events.insert(event)
        var isSuperseded = !fanOut.isEmpty
        for way in fanOut where try !add(way, of: row, from: event) { isSuperseded = false }
        return isSuperseded ? .superseded(row.key) : .accepted(row.key)
    }

    private func reasonToRefuse(_ event: Event) throws(StoreError) -> String? {
        if let reason = try makeRoom() { return reason }
        return try reasonToRefuse(
            uid: event.submitter.uid,
            board: BoardKey(game: event.game, kind: event.subject.kind, item: event.subject.item))
    }

    private func earlier(than event: Event) throws(StoreError) -> AcceptResult? {
        guard let clientID = event.clientID,
            let known = try events.earlier(uid: event.submitter.uid, game: event.game, clientID: clientID)
        else { return nil }
        guard let row = try events.row(known.key), row.clientID.map({ ExactText.same($0, clientID) }) == true else {
            // The receipt is gone; what is left says whether it was the same.
            return events.isSame(event, as: known)
                ? .duplicate(known.key, isSuperseded: false) : .idConflict(existing: known.key)
        }
        guard row.hasSameContent(as: event) else { return .idConflict(existing: row.key) }
        let states = try deliveries.rows(ofEvent: row.number).map(\.state)
        return .duplicate(row.key, isSuperseded: !states.isEmpty && states.allSatisfy { $0 == .superseded })
    }

    /// Adds one delivery. Returns whether it was superseded at once.
    private func add(_ way: FanOut, of row: EventRow, from event: Event) throws(StoreError) -> Bool {
        let endpoint = try endpoints.makeID(way.endpoint)
        let stream = try makeStream(endpoint: endpoint, row)
        var delivery = DeliveryRow(event: row, stream: stream.number, endpoint: endpoint, way: way)
        if way.merge == .none {
            if try mayGoFirst(delivery) { delivery.state = .ready }
            try add(&delivery, to: stream)
            return false
        }
        let measure = event.subject.measure
        if Self.isWorse(measure, than: stream.confirmed?.measure, way)
            || Self.isLate(event, after: stream.confirmed, way.merge)
        {
            return try addSuperseded(&delivery, by: nil, stream, now: event.recorded)
        }
        let peers = try mergeable(stream.number)
        let newer = Self.isLate(event, after: stream.pending, way.merge) ? peers.last : nil
        if let superseder = newer ?? Self.superseder(of: measure, among: peers, way.merge) {
            return try addSuperseded(&delivery, by: superseder, stream, now: event.recorded)
        }
        try placeMerged(&delivery, in: stream, peers: peers, now: event.recorded)
        try raisePendingMark(of: stream, to: event, merge: way.merge)
        return false
    }

    /// Finds the stream of an event at `endpoint`, or makes it.
    func makeStream(endpoint: Int64, _ row: EventRow) throws(StoreError) -> StreamRow {
        try streams.make(endpoint: endpoint, game: row.game, player: row.player, kind: row.kind, item: row.item) {
            () throws(StoreError) in
            try endpoints.makeLane(endpoint: endpoint, game: row.game, uid: row.uid)
        }
    }

    private func addSuperseded(
        _ delivery: inout DeliveryRow, by superseder: DeliveryRow?, _ stream: StreamRow, now: ClockReading
    ) throws(StoreError) -> Bool {
        delivery.state = .superseded
        delivery.reason = superseder == nil ? .standing : nil
        delivery.superseder = superseder?.id.number
        delivery.round = superseder == nil ? nil : stream.round
        // One that comes late is worth less than what it gives way to, though its number is greater.
        if delivery.merge == .latest, let superseder {
            delivery.storedWorth = Worth.bytes(of: nil, merge: .latest, delivery: superseder.id.number - 1)
        }
        delivery.settled = now.wallMilliseconds
        delivery.isSettledSynchronized = now.isSynchronized
        try add(&delivery, to: stream)
        return true
    }

    /// Whether a new delivery need not wait for another of its stream.
    private func mayGoFirst(_ delivery: DeliveryRow) throws(StoreError) -> Bool {
        guard delivery.isOrdered else { return true }
        guard try firstWaiting(delivery.stream) == nil,
            try situation(of: delivery.stream).admits(isStrict: delivery.isStrict)
        else { return false }
        if !delivery.isStrict { return true }
        return try !isStoppedByHeld(stream: delivery.stream, before: .max)
    }

    private func placeMerged(
        _ delivery: inout DeliveryRow, in stream: StreamRow, peers: [DeliveryRow], now: ClockReading
    ) throws(StoreError) {
        if peers.isEmpty {
            if try mayGoFirst(delivery) { delivery.state = .ready }
            return try add(&delivery, to: stream)
        }
        try add(&delivery, to: stream)
        let winner = delivery
        var losers = peers.filter { $0.state != .sending && Self.isReplaced($0, by: winner) }
        try replace(&losers, by: &delivery, round: stream.round, now: now)
        try promote(stream.number, now: now)
    }

    /// Whether a strict way would overwrite something better that is confirmed.
    private static func isWorse(_ measure: StandingMeasure?, than confirmed: StandingMeasure?, _ way: FanOut) -> Bool {
        guard way.isStrict, case .best(let order) = way.merge, let measure, let confirmed,
            MergeOrder.areComparable(measure, confirmed)
        else { return false }
        return MergeOrder.isBetter(confirmed, than: measure, order)
    }

    /// Whether an event that was spooled is older than what the service shows, or will show, where the latest counts:
    /// while it waited in the spool, others were taken over the socket.
    private static func isLate(_ event: Event, after mark: StandingMark?, _ merge: MergeRule) -> Bool {
        guard merge == .latest, event.isFromSpool, let mark else { return false }
        return mark.atMilliseconds > event.effectiveTimeMilliseconds
    }

    /// The best delivery under way that a new event is no better than; also one in flight, because if that ends
    /// without a confirmation, the new event comes back.
    private static func superseder(
        of measure: StandingMeasure?, among peers: [DeliveryRow], _ merge: MergeRule
    ) -> DeliveryRow? {
        guard case .best(let order) = merge, let measure else { return nil }
        var best: (row: DeliveryRow, measure: StandingMeasure)?
        for peer in peers where peer.merge != .latest {
            guard let other = peer.measure, MergeOrder.areComparable(other, measure),
                !MergeOrder.isBetter(measure, than: other, order)
            else { continue }
            if let best, !MergeOrder.isBetter(other, than: best.measure, order) { continue }
            best = (peer, other)
        }
        return best?.row
    }
}
