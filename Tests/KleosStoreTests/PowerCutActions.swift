import KleosModel
import KleosSupport

@testable import KleosStore

/// What an outbox is asked to do, chosen at random.
enum PowerCutAction: CaseIterable {
    case accept, acceptMore, acceptMany, claim, claimMore, settle, settleMore, giveBack, hold, release, retry, discard
    case expire, notices, pause, render, confirmEndpoint

    static let endpoints = ["home", "away", "strict"]

    /// What one action did that has to last once it was answered.
    struct Done: Sendable {
        var events: [Event] = []
        var claims: [Claim] = []
        /// Deliveries that were told to be delivered.
        var delivered: [DeliveryID] = []
    }

    /// Whether it ends what is in flight.
    var usesClaims: Bool { self == .settle || self == .settleMore || self == .giveBack }

    /// Does it inside a transaction. `claims` is what is in flight.
    func perform(
        _ outbox: Outbox, events: [Event], claims: [Claim], now: ClockReading, random: inout SeededGenerator,
        done: inout Done
    ) throws(StoreError) {
        switch self {
        case .accept, .acceptMore, .acceptMany:
            for event in events {
                let result = try outbox.accept(event, fanOut: Self.ways(of: event))
                switch result {
                case .accepted, .superseded: done.events.append(event)
                case .duplicate, .idConflict, .queueFull: break
                }
            }
        case .claim, .claimMore:
            let endpoint = Self.endpoints.randomElement(using: &random) ?? "home"
            done.claims += try outbox.claim(endpoint: endpoint, limit: 4, nowMilliseconds: now.wallMilliseconds)
        case .settle, .settleMore:
            for claim in claims { try Self.settle(claim, outbox, now, &random, &done) }
        case .giveBack: for claim in claims.prefix(1) { try outbox.giveBack(claim.id, now: now) }
        case .hold: _ = try outbox.hold(try Self.choice(outbox, .ready, &random), now: now)
        case .release: _ = try outbox.release(try Self.choice(outbox, .held, &random), now: now)
        case .retry: _ = try outbox.retry(try Self.choice(outbox, .dead, &random), now: now)
        case .discard: _ = try outbox.discard(try Self.choice(outbox, .dead, &random), now: now)
        case .expire:
            _ = try outbox.expire(endpoint: "away", maximumAgeMilliseconds: 60_000, limit: 10, now: now)
        case .notices:
            let notices = try outbox.claimNotices(route: "hook", uid: 1000, limit: 3, now: now)
            _ = try outbox.acknowledgeNotices(
                notices.dropLast().map(\.number), route: "hook", uid: 1000, now: now)
        case .pause:
            if Bool.random(using: &random) {
                try outbox.setPause(endpoint: "home", reason: "operator", nowMilliseconds: now.wallMilliseconds)
            } else {
                try outbox.clearPause(endpoint: "home")
            }
        case .render:
            for claim in claims {
                try outbox.saveRendering(Array("{\"key\":\"\(claim.event.key)\"}".utf8), for: claim.id)
            }
        case .confirmEndpoint:
            try outbox.markConfirmed(endpoint: "home", fingerprint: "f", nowMilliseconds: now.wallMilliseconds)
        }
    }

    /// The ways of an event follow from its board, so that a repeated one goes the same.
    private static func ways(of event: Event) -> [FanOut] {
        switch event.subject.item {
        case "best": [way(), way("away", merge: .best(.descending), confirms: false)]
        case "least": [way(merge: .best(.ascending))]
        case "latest": [way("strict", merge: .latest, isStrict: true)]
        case "every": [way(merge: .none), way("away", merge: .none, confirms: false)]
        default: [way("strict", merge: .none, isStrict: true)]
        }
    }

    private static func choice(
        _ outbox: Outbox, _ state: DeliveryState, _ random: inout SeededGenerator
    ) throws(StoreError) -> DeliverySelection {
        let page = try outbox.list(DeliveryFilter(states: [state]), visibleTo: nil, limit: 30)
        return .keys(page.deliveries.randomElement(using: &random).map { [$0.key] } ?? [])
    }

    private static func settle(
        _ claim: Claim, _ outbox: Outbox, _ now: ClockReading, _ random: inout SeededGenerator, _ done: inout Done
    ) throws(StoreError) {
        let settlement: Settlement
        switch Int.random(in: 0..<8, using: &random) {
        case 0: settlement = .dead(.rejected, message: "no")
        case 1, 2:
            let due = now.wallMilliseconds + Int64.random(in: 0...5_000, using: &random)
            settlement = .retry(dueMilliseconds: due, isServerError: Bool.random(using: &random))
        default:
            settlement = .delivered(
                Confirmation(rank: 1, best: "1"),
                notice: .news(NoticeFacts(kind: .score, item: claim.event.subject.item)))
        }
        let result = try outbox.settle(
            claim.id, attempt: attempt(.retry, status: 200), settlement: settlement, mayHaveTakenEffect: false,
            now: now)
        if case .delivered = settlement, result.state == .delivered, !result.isStale { done.delivered.append(claim.id) }
    }
}
