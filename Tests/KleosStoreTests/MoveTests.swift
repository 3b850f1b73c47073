import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

@Suite("Queues on their way")
struct MoveTests {
    private func contradictions(_ store: TemporaryStore) throws -> [String]? {
        try store.store.withOutbox { outbox in try outbox.contradictions() }
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

    @Test("An export that breaks off has given nothing away, and the next one has it all")
    func breaksOff() throws {
        let (store, target) = (try TemporaryStore(), try TemporaryStore())
        let maker = EventMaker(store.clock)
        let told = maker.score(1, board: "told")
        try store.accept(told)
        let facts = NoticeFacts(kind: .score, item: "told", value: ScoreValue(units: 1))
        try store.settle(
            try #require(try store.claim().first), .delivered(Confirmation(), notice: .news(facts)), .delivered)
        let byHand = maker.score(1, board: "by hand")
        try store.accept(byHand)
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in try outbox.hold(.keys([byHand.key]), now: now) }
        for index in 0..<20 { try store.accept(maker.score(1, board: "b\(index)")) }
        func notices() throws -> [Notice] {
            try store.run { (outbox) throws(StoreError) in try outbox.exportNotices(after: 0).notices }
        }
        _ = try export(store, isHeld: true)
        #expect(try notices().map(\.key) == [told.key])
        let again = try export(store, isHeld: true)
        #expect(try notices().map(\.key) == [told.key])
        #expect(again.flatMap(\.deliveries).count { $0.state == .waiting } == 20)
        #expect(try bring(again, into: target, isTrusted: true).allSatisfy { $0 == .brought })
        #expect(try target.claim(100).count == 20)
        #expect(try target.state(byHand) == .held)

        let hasMore = try store.run { (outbox) throws(StoreError) in
            try outbox.finishExport(upToNotice: 1_000, now: now)
        }
        #expect(!hasMore)
        #expect(try notices().isEmpty)
        #expect(try export(store, isHeld: true).flatMap(\.deliveries).count { $0.state == .held } == 21)
        #expect(try contradictions(store) == [])
    }

    @Test("What comes from another machine leaves after its time, as what was submitted here does")
    func leaves() throws {
        let (store, target) = (try TemporaryStore(), try TemporaryStore())
        let maker = EventMaker(store.clock)
        for index in 0..<5 { try store.accept(maker.score(1, board: "b\(index)")) }
        for claim in try store.claim() { try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered) }
        #expect(try bring(export(store, isHeld: true), into: target, isTrusted: true).count == 5)
        #expect(try contradictions(target) == [])
        target.clock.advance(milliseconds: 31 * 86_400_000)
        let now = target.now
        #expect(try target.run { (outbox) throws(StoreError) in try outbox.maintain(now: now) } == false)
        #expect(try target.all().isEmpty)
        #expect(try contradictions(target) == [])
    }

    @Test("What was held for want of a configuration goes on where there is one")
    func isConfigured() throws {
        let (store, target) = (try TemporaryStore(), try TemporaryStore())
        let event = EventMaker(store.clock).score(1)
        try store.accept(event)
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in
            try outbox.reconcile(games: [], endpoints: ["home"], now: now)
        }
        #expect(try bring(export(store, isHeld: true), into: target, isTrusted: true) == [.brought])
        #expect(try target.state(event) == .ready)
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
