import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

@Suite("Clones, and queues on their way")
struct MoveTests {
    private func clone(of store: TemporaryStore) throws -> TemporaryStore {
        try TemporaryStore(
            folder: try store.snapshot(), clock: store.clock,
            options: StoreOptions(freeFloorBytes: 0, reserveBytes: 0, machineID: "machine-2"),
            log: Log(sink: { _, _ in }))
    }

    private func contradictions(_ store: TemporaryStore) throws -> [String]? {
        try store.store.withOutbox { outbox in try outbox.contradictions() }
    }

    @Test("A reset throws away what the other machine sends, and what that had replaced, and nothing of this one's")
    func reset() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        let (worse, better) = (maker.score(1), maker.score(2))
        try store.accept(worse)
        try store.accept(better)
        let copy = try clone(of: store)
        let own = maker.score(3, board: "own")
        try copy.accept(own)
        let now = copy.now
        let step = try copy.run { (outbox) throws(StoreError) in try outbox.reset(now: now) }
        #expect(step == CloneStep(changed: 2, hasMore: false))
        #expect(try copy.state(worse) == .discarded)
        #expect(try copy.state(better) == .discarded)
        #expect(try copy.state(own) == .ready)
        #expect(try copy.claim().map(\.event.key) == [own.key])
        #expect(try copy.run { (outbox) throws(StoreError) in try outbox.storage().isClone } == false)
        #expect(try contradictions(copy) == [])
    }

    private func export(_ store: TemporaryStore, isHeld: Bool) throws -> [SalvagedEvent] {
        let now = store.now
        return try store.run { (outbox) throws(StoreError) in
            var (events, after): ([SalvagedEvent], Int64) = ([], 0)
            let end = try outbox.lastEvent()
            while after < end {
                let page = try outbox.export(after: after, upTo: end, isHeld: isHeld, now: now)
                if page.isInFlight { return events }
                events += page.events
                after = page.last
            }
            return events
        }
    }

    private let policy = SalvagePolicy(
        games: ["g": Game(id: "g", endpoints: ["home"])],
        endpoints: ["home": Endpoint(name: "home", url: "http://127.0.0.1:1", resend: .accumulates)])

    private func bring(_ events: [SalvagedEvent], into store: TemporaryStore, isTrusted: Bool) throws -> [SalvageResult]
    {
        let (policy, now) = (policy, store.now)
        return try store.run { (outbox) throws(StoreError) in
            var results: [SalvageResult] = []
            for event in events {
                results.append(
                    try outbox.bring(event, policy: policy, isDamaged: false, isTrusted: isTrusted, now: now))
            }
            return results
        }
    }

    @Test("An export that holds what it takes moves a queue: each event goes on at one place only")
    func moves() throws {
        let (store, target) = (try TemporaryStore(), try TemporaryStore())
        let maker = EventMaker(store.clock)
        var events: [Event] = []
        for index in 0..<40 {
            events.append(maker.score(Int64(index), board: "b\(index % 20)"))
            try store.accept(events[index], way(merge: index < 20 ? .none : .best(.descending)))
        }
        let claims = try store.claim(2)
        try store.settle(claims[0], .delivered(Confirmation(rank: 3), notice: nil), .delivered)
        try store.settle(claims[1], .dead(.rejected, message: "no"), .permanent)
        let exported = try export(store, isHeld: true)
        #expect(exported.map(\.event) == events)
        #expect(try store.claim(100).isEmpty, "nothing of it is sent here any more")
        #expect(try contradictions(store) == [])
        #expect(try bring(exported, into: target, isTrusted: true) == Array(repeating: .brought, count: 40))
        #expect(try bring(exported, into: target, isTrusted: true) == Array(repeating: .known, count: 40))
        #expect(try contradictions(target) == [])
        var sent: Set<EventKey> = []
        while case let claims = try target.claim(100), !claims.isEmpty {
            for claim in claims {
                #expect(sent.insert(claim.event.key).inserted)
                try target.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
            }
        }
        #expect(sent.count == 38)
        let moved = try target.run { (outbox) throws(StoreError) in
            try outbox.show(key: claims[0].event.key, visibleTo: nil)
        }
        #expect(moved?.deliveries.first?.record.confirmation?.rank == 3)
        #expect(moved?.deliveries.first?.attempts.map(\.outcome) == [.delivered])
    }

    @Test("An event in flight is not taken before it settles")
    func inFlight() throws {
        let store = try TemporaryStore()
        let event = EventMaker(store.clock).score(1)
        try store.accept(event)
        let claim = try #require(try store.claim().first)
        #expect(try export(store, isHeld: true).isEmpty)
        try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
        #expect(try export(store, isHeld: true).first?.deliveries.first?.state == .delivered)
    }

    @Test("What somebody else may send as well is held where a second send counts twice")
    func isHeldWithoutTrust() throws {
        let (store, target) = (try TemporaryStore(), try TemporaryStore())
        let event = EventMaker(store.clock).score(1)
        try store.accept(event, way(merge: .none))
        let exported = try export(store, isHeld: false)
        #expect(try store.state(event) == .ready)
        #expect(try bring(exported, into: target, isTrusted: false) == [.brought])
        #expect(try target.all().map(\.reason) == [.restored])
    }
}
