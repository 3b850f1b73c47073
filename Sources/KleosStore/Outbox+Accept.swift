package import KleosModel
import KleosSupport

extension Outbox {
    /// Records `event` with one delivery for each of `fanOut`, unless it was recorded before or there is no room.
    package func accept(_ event: Event, fanOut: [FanOut]) throws(StoreError) -> AcceptResult {
        if let earlier = try earlier(than: event) { return earlier }
        if let reason = try space.reasonToRefuse(usedBytes: { () throws(StoreError) in try usedBytes() }) {
            return .queueFull(reason)
        }
        if let reason = try reasonToRefuse(uid: event.submitter.uid) { return .queueFull(reason) }
        let id = try insert(event)
        var isSuperseded = !fanOut.isEmpty
        for way in fanOut where try !add(way, of: event, numbered: id) { isSuperseded = false }
        return isSuperseded ? .superseded(event.key) : .accepted(event.key)
    }

    private func earlier(than event: Event) throws(StoreError) -> AcceptResult? {
        guard let clientID = event.clientID else { return nil }
        let earlier = try database.first(
            "SELECT \(Event.columns), e.id FROM events e WHERE e.uid = ?1 AND e.game = ?2 AND e.client_id = ?3",
            SQLValue(event.submitter.uid), SQLValue(event.game), SQLValue(clientID)
        ) { (Event($0), $0.integer(Event.columnCount)) }
        guard let (stored, id) = earlier else { return nil }
        guard stored.hasSameContent(as: event) else { return .idConflict(existing: stored.key) }
        let others = try database.integer(
            "SELECT count(*) FROM deliveries WHERE event = ?1 AND state != 'superseded'", SQLValue(id))
        let replaced = try database.integer(
            "SELECT count(*) FROM deliveries WHERE event = ?1 AND state = 'superseded'", SQLValue(id))
        return .duplicate(stored.key, isSuperseded: others == 0 && replaced ?? 0 > 0)
    }

    /// Adds one delivery. Returns whether it was superseded at once.
    private func add(_ way: FanOut, of event: Event, numbered eventID: Int64) throws(StoreError) -> Bool {
        let endpoint = try makeEndpointID(way.endpoint)
        let stream = try makeStream(endpoint: endpoint, event: event)
        let now = event.recorded.wallMilliseconds
        var draft = Draft(event: eventID, stream: stream.id, endpoint: endpoint, uid: event.submitter.uid, way: way)
        draft.dueMilliseconds = now
        if way.merge == .none {
            try placeUnmerged(&draft)
            try insert(draft, of: event)
            return false
        }
        if Self.isWorse(event.subject.measure, than: stream.confirmed?.measure, way)
            || Self.isLate(event, after: stream.confirmed, way.merge)
        {
            draft.state = .superseded
            draft.reason = .standing
            try insert(draft, of: event)
            return true
        }
        let peers = try mergeable(stream.id)
        let isLate = Self.isLate(event, after: stream.pending, way.merge)
        let newer = isLate ? peers.last?.id : nil
        if let superseder = newer ?? Self.superseder(of: event.subject.measure, among: peers, way.merge) {
            draft.state = .superseded
            draft.supersededBy = superseder
            try insert(draft, of: event)
            return true
        }
        try placeMerged(draft, of: event, peers: peers)
        try raisePendingMark(of: stream, to: event, merge: way.merge)
        return false
    }

    private func placeUnmerged(_ draft: inout Draft) throws(StoreError) {
        let isFirst =
            try database.integer(
                "SELECT 1 FROM deliveries WHERE stream = ?1 AND state = 'waiting' AND settled IS NULL LIMIT 1",
                SQLValue(draft.stream))
            == nil
        guard isFirst, try situation(of: draft.stream).admits(isStrict: draft.way.isStrict) else { return }
        if draft.way.isStrict, try isStoppedByHeld(stream: draft.stream, before: .max) { return }
        draft.state = .ready
    }

    private func placeMerged(_ draft: Draft, of event: Event, peers: [DeliveryRow]) throws(StoreError) {
        var draft = draft
        if peers.isEmpty {
            try placeUnmerged(&draft)
            try insert(draft, of: event)
            return
        }
        let id = try insert(draft, of: event)
        guard var winner = try row(id) else {
            throw StoreError(.fault, operation: "add a delivery", message: "it cannot be read back")
        }
        var losers = peers.filter { $0.state != .sending && Self.isReplaced($0, by: winner) }
        try replace(&losers, by: &winner, nowMilliseconds: draft.dueMilliseconds)
        try promote(draft.stream, nowMilliseconds: draft.dueMilliseconds)
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
    ) -> DeliveryID? {
        guard case .best(let order) = merge, let measure else { return nil }
        var best: (id: DeliveryID, measure: StandingMeasure)?
        for peer in peers where peer.merge != .latest {
            guard let other = peer.measure, MergeOrder.areComparable(other, measure),
                !MergeOrder.isBetter(measure, than: other, order)
            else { continue }
            if let best, !MergeOrder.isBetter(other, than: best.measure, order) { continue }
            best = (peer.id, other)
        }
        return best?.id
    }

    /// A delivery before it is written.
    struct Draft {
        var event: Int64
        var stream: Int64
        var endpoint: Int64
        var uid: UInt32
        var way: FanOut
        var state = DeliveryState.waiting
        var reason: DeliveryReason?
        var supersededBy: DeliveryID?
        var dueMilliseconds: Int64 = 0
    }

    @discardableResult
    private func insert(_ draft: Draft, of event: Event) throws(StoreError) -> DeliveryID {
        try database.run(
            """
            INSERT INTO deliveries(event, stream, endpoint, uid, state, reason, merge, strict, priority, confirms, due,
                superseded_by, settled)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """,
            SQLValue(draft.event), SQLValue(draft.stream), SQLValue(draft.endpoint), SQLValue(draft.uid),
            SQLValue(draft.state.rawValue), SQLValue(draft.reason?.rawValue), SQLValue(draft.way.merge.code),
            SQLValue(draft.way.isStrict), SQLValue(draft.way.priority.rawValue), SQLValue(draft.way.confirms),
            SQLValue(draft.dueMilliseconds), SQLValue(draft.supersededBy?.number),
            draft.state.isUnsettled ? .null : SQLValue(draft.dueMilliseconds))
        let id = DeliveryID(database.lastRowID)
        countAddedDelivery(of: draft.uid)
        effects.counts[CounterKey(endpoint: draft.endpoint, state: draft.state.rawValue), default: 0] += 1
        if draft.state == .ready { effects.changes.readyEndpoints.insert(draft.way.endpoint) }
        effects.changes.deliveries.append(
            DeliveryChange(
                key: event.key, endpoint: draft.way.endpoint, game: event.game, player: event.player, uid: draft.uid,
                from: nil, to: draft.state, reason: draft.reason))
        return id
    }
}
