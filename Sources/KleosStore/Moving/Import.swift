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
        let row = try events.insert(event)
        for delivery in deliveries {
            try bring(delivery, of: row, event, policy: policy, isTrusted: isTrusted, now: now)
        }
        return .brought
    }

    /// Whether the event is there already. One whose client's id was used for another since goes without.
    private func isKnown(_ event: inout Event) throws(StoreError) -> Bool {
        if try events.number(of: event.key) != nil { return true }
        guard let clientID = event.clientID,
            let known = try events.earlier(uid: event.submitter.uid, game: event.game, clientID: clientID)
        else { return false }
        let isSame = try events.row(known.key)?.hasSameContent(as: event) ?? events.isSame(event, as: known)
        if isSame { return true }
        event.clientID = nil
        return false
    }

    private func bring(
        _ delivery: SalvagedEvent.Delivery, of row: EventRow, _ event: Event, policy: SalvagePolicy, isTrusted: Bool,
        now: ClockReading
    ) throws(StoreError) {
        let endpoint = try endpoints.makeID(delivery.endpoint)
        let stream = try makeStream(endpoint: endpoint, row)
        let place = delivery.place(
            isKnown: policy.endpoints[delivery.endpoint] != nil && policy.games[event.game] != nil,
            isAtMostOnce: policy.isAtMostOnce(delivery.endpoint), isTrusted: isTrusted)
        var brought = DeliveryRow(event: row, stream: stream.number, endpoint: endpoint, way: delivery.way)
        // Where there is no head, nothing waits for one.
        brought.state = place.state == .waiting && !brought.isOrdered ? .ready : place.state
        // A later kleos may know more reasons.
        brought.reason =
            place.reason.flatMap(DeliveryReason.init(rawValue:))
            ?? (place.state == .held ? .operatorHold : place.state == .dead ? .rejected : nil)
        brought.message = delivery.message
        brought.take(delivery, now: now)
        try add(&brought, to: stream)
        var numbers: Set<Int> = brought.last.map { [$0.number] } ?? []
        for attempt in delivery.receipt where numbers.insert(attempt.number).inserted {
            try deliveries.add(attempt, to: brought.id)
        }
        guard brought.isOrdered else { return }
        if place.state == .delivered, brought.merge != .none {
            var changed = try streams.named(stream.number)
            confirm(event, merge: brought.merge, rank: delivery.confirmation.rank, stream: &changed)
            try streams.write(changed)
        }
        try settleStream(stream.number, now: now)
        try refreshPendingMark(of: stream.number)
    }

    /// Brings over what was confirmed in a stream, unless something is confirmed there already.
    package func bring(_ standing: SalvagedStanding) throws(StoreError) {
        let endpoint = try endpoints.makeID(standing.stream.endpoint)
        let key = standing.stream
        var stream = try streams.make(
            endpoint: endpoint, game: key.game, player: key.player, kind: key.kind, item: key.item
        ) { () throws(StoreError) in
            try endpoints.makeLane(endpoint: endpoint, game: key.game, uid: 0)
        }
        guard stream.confirmed == nil else { return }
        stream.confirmed = standing.confirmed
        try streams.write(stream)
    }

    /// Brings over a notice that nobody was shown, unless there is one about the same event.
    package func bring(_ notice: Notice) throws(StoreError) {
        guard try !hasNotice(about: notice) else { return }
        var notice = notice
        notice.number = try counters.value(.lastNotice) + 1
        try add(notice)
        changes.notices.append(notice)
    }
}

extension DeliveryRow {
    /// Takes over what another outbox knew of the delivery.
    fileprivate mutating func take(_ delivery: SalvagedEvent.Delivery, now: ClockReading) {
        let isUnsettled = state.isUnsettled
        attempts = Int(clamping: max(0, delivery.attempts))
        inherited = Int(clamping: delivery.inherited)
        serverErrors = Int(clamping: max(0, delivery.serverErrors))
        isUnanswered = delivery.isUnanswered || delivery.state == .sending
        ignoresAge = delivery.ignoresAge
        confirmation = delivery.confirmation
        settled = isUnsettled ? nil : delivery.settledMilliseconds ?? now.wallMilliseconds
        isSettledSynchronized = !isUnsettled && now.isSynchronized
        letter = isUnsettled ? delivery.rendering : nil
        if state == .ready, attempts > 0 {
            due = min(delivery.dueMilliseconds, now.wallMilliseconds + Outbox.maximumDelayMilliseconds)
        }
        // The next attempt has to get a number that none has.
        attempts = max(attempts, delivery.receipt.map(\.number).max() ?? 0)
        if !isUnsettled { last = delivery.receipt.last }
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
