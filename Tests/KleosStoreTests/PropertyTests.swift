import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// Random work on a few streams; after each transaction everything that must always hold is checked.
@Suite struct PropertyTests {
    @Test(arguments: Array(UInt64(1)...12))
    func nothingIsLostWhateverHappens(seed: UInt64) throws {
        let store = try TemporaryStore()
        var world = World(store: store, seed: seed)
        for _ in 0..<25 {
            try world.work(operations: 20)
            try world.check()
        }
        try world.drain()
        try world.check()
        try world.checkDrained()
    }
}

private struct World {
    let store: TemporaryStore
    let maker: EventMaker
    var random: SeededGenerator
    /// What was acknowledged, with its ways.
    var accepted: [EventKey: Int] = [:]
    /// What the operator threw away or the endpoint refused is the only thing that may be missing at the end.
    static let ways: [String: FanOut] = [
        "best": way(merge: .best(.descending)), "least": way(merge: .best(.ascending)),
        "latest": way(merge: .latest, isStrict: true), "every": way(merge: .none),
        "ordered": way(merge: .none, isStrict: true), "last-write": way(merge: .best(.descending), isStrict: true),
    ]

    init(store: TemporaryStore, seed: UInt64) {
        self.store = store
        maker = EventMaker(store.clock)
        random = SeededGenerator(seed: seed)
    }

    enum Action: CaseIterable { case accept, acceptMore, claim, hold, release, retry, discard, expire, restart }

    mutating func work(operations: Int) throws {
        let (start, maker, now) = (random, maker, store.clock.read())
        let (end, keys) = try store.run { (outbox) throws(StoreError) in
            var random = start
            var keys: [EventKey] = []
            for _ in 0..<operations {
                try Self.act(outbox, maker, now, &random, &keys)
            }
            return (random, keys)
        }
        random = end
        for key in keys { accepted[key] = 1 }
        store.clock.advance(milliseconds: 1_000)
    }

    private static func act(
        _ outbox: Outbox, _ maker: EventMaker, _ now: ClockReading, _ random: inout SeededGenerator,
        _ keys: inout [EventKey]
    ) throws(StoreError) {
        let states = DeliveryState.allCases
        let filter = DeliveryFilter(states: [states.randomElement(using: &random) ?? .ready])
        let page = try outbox.list(filter, visibleTo: nil, limit: 50)
        let chosen = page.deliveries.randomElement(using: &random).map { DeliverySelection.keys([$0.key]) }
        switch Action.allCases.randomElement(using: &random) ?? .accept {
        case .accept, .acceptMore:
            let board = ways.keys.sorted().randomElement(using: &random) ?? "best"
            let event = maker.score(Int64.random(in: 1...40, using: &random), board: board)
            guard let way = ways[board] else { return }
            _ = try outbox.accept(event, fanOut: [way])
            keys.append(event.key)
        case .claim:
            let claims = try outbox.claim(endpoint: "home", limit: 4, nowMilliseconds: now.wallMilliseconds)
            for claim in claims { try settle(claim, outbox, now, &random) }
        case .hold: if let chosen { _ = try outbox.hold(chosen, now: now) }
        case .release: if let chosen { _ = try outbox.release(chosen, now: now) }
        case .retry: if let chosen { _ = try outbox.retry(chosen, now: now) }
        case .discard: if let chosen, Bool.random(using: &random) { _ = try outbox.discard(chosen, now: now) }
        case .expire:
            _ = try outbox.expire(endpoint: "home", maximumAgeMilliseconds: 20_000, limit: 3, now: now)
        case .restart: _ = try outbox.recover(atMostOnceEndpoints: [], now: now)
        }
    }

    private static func settle(
        _ claim: Claim, _ outbox: Outbox, _ now: ClockReading, _ random: inout SeededGenerator
    ) throws(StoreError) {
        let settlement: Settlement
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return
        case 1: return try outbox.giveBack(claim.id, now: now)
        case 2: settlement = .dead(.rejected, message: "no")
        case 3:
            let due = now.wallMilliseconds + Int64.random(in: 0...3_000, using: &random)
            settlement = .retry(dueMilliseconds: due, isServerError: false)
        default: settlement = .delivered(Confirmation(), notice: nil)
        }
        let result = try outbox.settle(
            claim.id, attempt: attempt(.retry), settlement: settlement, mayHaveTakenEffect: false, now: now)
        #expect(!result.isStale)
    }

    /// Releases and sends until nothing is under way.
    mutating func drain() throws {
        for _ in 0..<200 {
            let now = store.clock.read()
            let open = try store.run { (outbox) throws(StoreError) in
                _ = try outbox.release(.filter(DeliveryFilter()), now: now)
                _ = try outbox.recover(atMostOnceEndpoints: [], now: now)
                _ = try outbox.bringForward(endpoint: "home", nowMilliseconds: now.wallMilliseconds)
                for claim in try outbox.claim(endpoint: "home", limit: 100, nowMilliseconds: now.wallMilliseconds) {
                    _ = try outbox.settle(
                        claim.id, attempt: attempt(.delivered), settlement: .delivered(Confirmation(), notice: nil),
                        mayHaveTakenEffect: false, now: now)
                }
                return try outbox.nextDueMilliseconds(endpoint: "home") != nil
            }
            if !open { return }
        }
    }

    func checkDrained() throws {
        let open = try store.all().filter { $0.state.isUnsettled }
        #expect(open.isEmpty, "left behind: \(open.map { "\($0.state) \($0.subject)" })")
    }

    func check() throws {
        let problems = try store.store.withOutbox { outbox in try outbox.contradictions() }
        #expect(problems == [])
        let keys = Set(try store.all().map(\.key))
        #expect(keys == Set(accepted.keys))
    }
}
