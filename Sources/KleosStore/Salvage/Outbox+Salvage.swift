package import KleosModel
package import KleosSupport

/// By what events of a set-aside outbox go on.
package struct SalvagePolicy: Sendable {
    /// The configured games, by id.
    package var games: [String: Game]
    /// The configured endpoints, by name.
    package var endpoints: [String: Endpoint]

    /// Makes a policy.
    package init(games: [String: Game], endpoints: [String: Endpoint]) {
        self.games = games
        self.endpoints = endpoints
    }

    /// Whether a second send counts twice there.
    func isAtMostOnce(_ endpoint: String) -> Bool {
        endpoints[endpoint].map { $0.resend == .accumulates && !$0.isAtLeastOnce } ?? false
    }

    /// The ways of an event that is recorded now.
    func fanOut(_ event: Event) -> [FanOut] {
        games[event.game].map { SubmissionRules.fanOut(event.subject, in: $0, endpoints: endpoints) } ?? []
    }
}

/// What became of an event that was brought over.
package enum SalvageResult: Sendable, Equatable {
    case brought
    /// The same key, or the same client's id, is there already.
    case known
    /// Nobody knows where it was going.
    case aimless
    case full(String)
}

extension Outbox {
    /// Brings an event over under its own key. `isDamaged` says that deliveries may be missing: then those that it
    /// would have today are added. `isTrusted` says that nobody else sends it, so that what waited goes on even where a
    /// second send counts twice.
    package func bring(
        _ salvaged: SalvagedEvent, policy: SalvagePolicy, isDamaged: Bool, isTrusted: Bool = false, now: ClockReading
    ) throws(StoreError) -> SalvageResult {
        var event = salvaged.event
        if try isKnown(&event) { return .known }
        var deliveries = salvaged.deliveries
        if isDamaged || deliveries.isEmpty {
            for way in policy.fanOut(event) where !deliveries.contains(where: { $0.endpoint == way.endpoint }) {
                deliveries.append(SalvagedEvent.Delivery(missing: way, of: event))
            }
        }
        if deliveries.isEmpty { return .aimless }
        if let reason = try space.reasonToRefuse(usedBytes: { () throws(StoreError) in try usedBytes() }) {
            return .full(reason)
        }
        let id = try insert(event)
        for delivery in deliveries {
            try bring(delivery, of: event, numbered: id, policy: policy, isTrusted: isTrusted, now: now)
        }
        return .brought
    }

    /// Whether the event is there already. One whose client's id was used for another since goes without.
    private func isKnown(_ event: inout Event) throws(StoreError) -> Bool {
        let known = try database.integer("SELECT 1 FROM events WHERE key = ?1", SQLValue(event.key.bytes))
        if known != nil { return true }
        guard let clientID = event.clientID else { return false }
        let twin = try database.first(
            "SELECT \(Event.columns) FROM events e WHERE e.uid = ?1 AND e.game = ?2 AND e.client_id = ?3",
            SQLValue(event.submitter.uid), SQLValue(event.game), SQLValue(clientID)
        ) { Event($0) }
        guard let twin else { return false }
        if twin.hasSameContent(as: event) { return true }
        event.clientID = nil
        return false
    }

    private func bring(
        _ delivery: SalvagedEvent.Delivery, of event: Event, numbered eventID: Int64, policy: SalvagePolicy,
        isTrusted: Bool, now: ClockReading
    ) throws(StoreError) {
        let wall = now.wallMilliseconds
        let endpoint = try makeEndpointID(delivery.endpoint)
        let stream = try makeStream(endpoint: endpoint, event: event)
        let place = delivery.place(
            isKnown: policy.endpoints[delivery.endpoint] != nil
                && policy.games[event.game] != nil, isAtMostOnce: policy.isAtMostOnce(delivery.endpoint),
            isTrusted: isTrusted)
        let way = delivery.way
        try database.run(
            """
            INSERT INTO deliveries(event, stream, endpoint, uid, state, reason, message, merge, strict, priority,
                confirms, due, attempts, inherited, server_errors, unanswered, ignores_age, settled, rank, best,
                changed, unlocked)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)
            """,
            SQLValue(eventID), SQLValue(stream.id), SQLValue(endpoint), SQLValue(event.submitter.uid),
            SQLValue(place.state.rawValue), SQLValue(place.reason), SQLValue(delivery.message),
            SQLValue(way.merge.code), SQLValue(way.isStrict), SQLValue(way.priority.rawValue),
            SQLValue(way.confirms), SQLValue(min(delivery.dueMilliseconds, wall + Self.maximumDelayMilliseconds)),
            SQLValue(delivery.attempts), SQLValue(delivery.inherited), SQLValue(delivery.serverErrors),
            SQLValue(delivery.isUnanswered || delivery.state == .sending), SQLValue(delivery.ignoresAge),
            place.state.isUnsettled ? .null : SQLValue(delivery.settledMilliseconds ?? wall),
            SQLValue(delivery.confirmation.rank), SQLValue(delivery.confirmation.best),
            SQLValue(delivery.confirmation.changed), SQLValue(delivery.confirmation.unlocked))
        let id = DeliveryID(database.lastRowID)
        countAddedDelivery(of: event.submitter.uid)
        try bringReceipt(delivery, of: id, isUnsettled: place.state.isUnsettled)
        guard let row = try row(id) else { return }
        try record(row, from: nil)
        if place.state == .delivered, way.merge != .none {
            try confirm(event, merge: way.merge, rank: delivery.confirmation.rank, stream: stream.id)
        }
        try settleStream(stream.id, nowMilliseconds: wall)
        try refreshPendingMark(of: stream.id)
    }

    private func bringReceipt(
        _ delivery: SalvagedEvent.Delivery, of id: DeliveryID, isUnsettled: Bool
    ) throws(StoreError) {
        if isUnsettled, let rendering = delivery.rendering { try saveRendering(rendering, for: id) }
        for attempt in delivery.receipt {
            try database.run(
                """
                INSERT INTO attempts(delivery, number, started, duration, outcome, status, error, answer)
                VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING
                """,
                SQLValue(id.number), SQLValue(attempt.number), SQLValue(attempt.startedMilliseconds),
                SQLValue(attempt.durationMilliseconds), SQLValue(attempt.outcome.rawValue),
                SQLValue(attempt.status.map { Int64($0) }), SQLValue(attempt.error), SQLValue(attempt.answer))
        }
    }

    /// Brings over what was confirmed in a stream, unless something is confirmed there already.
    package func bring(_ standing: SalvagedStanding) throws(StoreError) {
        let endpoint = try makeEndpointID(standing.stream.endpoint)
        let key = standing.stream
        let stream = try makeStream(
            endpoint: endpoint, game: key.game, player: key.player, kind: key.kind, item: key.item)
        guard stream.confirmed == nil else { return }
        try setConfirmedMark(of: stream.id, standing.confirmed)
    }

    /// Brings over a notice that nobody was shown, unless there is one about the same event.
    package func bring(_ notice: Notice) throws(StoreError) {
        let facts = notice.facts
        let added = try database.run(
            """
            INSERT INTO notices(key, game, player, uid, kind, item, amount, decimals, rank, changed, created)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 WHERE NOT EXISTS(SELECT 1 FROM notices WHERE key = ?1)
            """,
            SQLValue(notice.key.bytes), SQLValue(notice.game), SQLValue(notice.player), SQLValue(notice.uid),
            SQLValue(facts.kind.rawValue), SQLValue(facts.item), SQLValue(facts.value?.units),
            SQLValue(facts.value.map { Int64($0.decimals) }), SQLValue(facts.rank), SQLValue(facts.changed),
            SQLValue(notice.createdMilliseconds))
        guard added == 1 else { return }
        var notice = notice
        notice.number = database.lastRowID
        effects.counts[.pendingNotices, default: 0] += 1
        effects.changes.notices.append(notice)
    }
}

extension SalvagedEvent.Delivery {
    /// A delivery that an event would have today, and that cannot be read.
    init(missing way: FanOut, of event: Event) {
        self.init(
            endpoint: way.endpoint, way: way, state: .waiting, reason: nil, message: nil,
            dueMilliseconds: event.recorded.wallMilliseconds, attempts: 0, inherited: 0, serverErrors: 0,
            isUnanswered: true, ignoresAge: false, isDiscarded: false, settledMilliseconds: nil,
            confirmation: Confirmation(), isReplacedForGood: false, rendering: nil, receipt: [])
    }

    /// The state in which it goes on. What was settled stays so, and so does what was held, unless for want of a
    /// configuration, which may be another one here. Where a second send counts twice, what was in flight is
    /// dead and what was not is held, because a damaged outbox cannot prove that it was not sent; `isTrusted` is such
    /// proof.
    func place(isKnown: Bool, isAtMostOnce: Bool, isTrusted: Bool = false) -> (state: DeliveryState, reason: String?) {
        switch state {
        case .delivered, .discarded: return (state, reason)
        case .dead: return (state, reason ?? DeliveryReason.rejected.rawValue)
        case .held where reason != DeliveryReason.unconfigured.rawValue:
            return (state, reason ?? DeliveryReason.operatorHold.rawValue)
        case .superseded where isReplacedForGood: return (state, reason)
        case .sending where isDiscarded: return (.discarded, nil)
        case .sending where isAtMostOnce: return (.dead, DeliveryReason.ambiguous.rawValue)
        case .waiting, .ready, .sending, .held, .superseded:
            if !isKnown { return (.held, DeliveryReason.unconfigured.rawValue) }
            return isAtMostOnce && !isTrusted ? (.held, DeliveryReason.restored.rawValue) : (.waiting, nil)
        }
    }
}
