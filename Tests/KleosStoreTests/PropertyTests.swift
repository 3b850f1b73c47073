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
                try outbox.bringForward(endpoint: "home", nowMilliseconds: now.wallMilliseconds)
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
        let problems = try store.store.withOutbox { outbox in
            var problems: [String] = []
            for (name, sql) in Self.rules {
                let found = try outbox.database.rows(sql, []) { "\(name): \($0.text(0))" }
                problems += found
            }
            return problems
        }
        #expect(problems == [])
        let keys = Set(try store.all().map(\.key))
        #expect(keys == Set(accepted.keys))
    }

    /// Each query finds what must not be.
    static let rules: [(String, String)] = [
        (
            "more than one fresh head in stream",
            "SELECT stream FROM deliveries WHERE state = 'ready' AND backoff = 0 GROUP BY stream HAVING count(*) > 1"
        ),
        (
            "more than one in flight in stream",
            "SELECT stream FROM deliveries WHERE state = 'sending' GROUP BY stream HAVING count(*) > 1"
        ),
        (
            "a head and a delivery in flight in a strict stream",
            """
            SELECT stream FROM deliveries WHERE strict = 1 AND state IN ('ready', 'sending')
            GROUP BY stream HAVING count(*) > 1
            """
        ),
        (
            "nobody at the head of stream",
            """
            SELECT w.stream FROM deliveries w WHERE w.state = 'waiting'
                AND NOT EXISTS(SELECT 1 FROM deliveries h WHERE h.stream = w.stream AND h.state IN ('ready', 'sending'))
                AND NOT (w.strict = 1 AND EXISTS(
                    SELECT 1 FROM deliveries h WHERE h.stream = w.stream AND h.state = 'held' AND h.id < w.id))
            """
        ),
        (
            "counter differs from count",
            """
            SELECT d.endpoint || ' ' || d.state || ' ' || count(*) FROM deliveries d GROUP BY d.endpoint, d.state
            HAVING count(*) != coalesce(
                (SELECT c.count FROM counters c WHERE c.endpoint = d.endpoint AND c.state = d.state), 0)
            """
        ),
        (
            "counter of nothing",
            """
            SELECT c.state FROM counters c WHERE c.count != 0 AND NOT EXISTS(
                SELECT 1 FROM deliveries d WHERE d.endpoint = c.endpoint AND d.state = c.state)
            """
        ),
        (
            "superseded by what ended without a confirmation",
            """
            SELECT d.id FROM deliveries d JOIN deliveries s ON s.id = d.superseded_by
            WHERE s.state IN ('dead', 'discarded')
            """
        ),
        (
            "never merged, and yet superseded",
            "SELECT id FROM deliveries WHERE merge = 0 AND state = 'superseded'"
        ),
        (
            "a best that is neither confirmed nor under way",
            """
            SELECT d.id FROM deliveries d JOIN events e ON e.id = d.event
            WHERE d.state = 'superseded' AND d.merge IN (1, 2) AND NOT EXISTS(
                SELECT 1 FROM deliveries o JOIN events f ON f.id = o.event
                WHERE o.stream = d.stream AND o.state IN ('waiting', 'ready', 'sending', 'held', 'delivered')
                    AND (CASE d.merge WHEN 2 THEN f.amount >= e.amount ELSE f.amount <= e.amount END))
            """
        ),
    ]
}
