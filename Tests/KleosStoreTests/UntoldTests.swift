import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

/// An achievement that something else unlocked, which could not be told, is told by what comes after it.
@Suite struct UntoldTests {
    private let store: TemporaryStore
    private let maker: EventMaker
    private let facts = NoticeFacts(kind: .achievement, item: "walker")
    private let isNew = KleosModel.Confirmation(changed: true, unlocked: true)
    private let wasThere = KleosModel.Confirmation(changed: false, unlocked: true)

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    @discardableResult
    private func submit(_ steps: Int64, to endpoints: String...) throws -> Event {
        let event = maker.event(.achievement(id: "walker", change: .steps(steps)))
        let ways = endpoints.map { way($0) }
        try store.run { (outbox) throws(StoreError) in _ = try outbox.accept(event, fanOut: ways) }
        return event
    }

    private func claim(_ endpoint: String) throws -> Claim {
        try #require(try store.claim(1, endpoint: endpoint).first)
    }

    private func confirmNew(_ claim: Claim) throws -> Notice? {
        try store.settle(claim, .delivered(isNew, notice: .news(facts)), .delivered).notice
    }

    private func confirmKnown(_ claim: Claim) throws -> Notice? {
        try store.settle(claim, .delivered(wasThere, notice: .known(facts)), .delivered).notice
    }

    @Test func whatThePlayerHadIsNotToldAgain() throws {
        try submit(100, to: "home")
        #expect(try confirmKnown(claim("home")) == nil)
        try submit(110, to: "home")
        #expect(try confirmNew(claim("home"))?.facts == facts)
        try submit(120, to: "home")
        #expect(try confirmKnown(claim("home")) == nil)
    }

    @Test func aSendWithoutAnAnswerThatGaveWayIsToldOnce() throws {
        let first = try submit(100, to: "home")
        let unanswered = try claim("home")
        try store.settle(
            unanswered, .retry(dueMilliseconds: store.clock.nowMilliseconds + 1_000, isServerError: false),
            mayHaveTakenEffect: true)
        try submit(110, to: "home")
        #expect(try store.state(first) == .superseded)
        store.clock.advance(milliseconds: 2_000)
        let better = try claim("home")
        #expect(better.event.key != first.key)
        #expect(try confirmKnown(better)?.facts == facts)
        try submit(120, to: "home")
        #expect(try confirmKnown(claim("home")) == nil)
    }

    @Test func whatWasToldBeforeIsNotToldForASendWithoutAnAnswer() throws {
        try submit(100, to: "home")
        #expect(try confirmNew(claim("home"))?.facts == facts)
        try submit(110, to: "home")
        try store.settle(
            claim("home"), .retry(dueMilliseconds: store.clock.nowMilliseconds + 1_000, isServerError: false),
            mayHaveTakenEffect: true)
        try submit(120, to: "home")
        store.clock.advance(milliseconds: 2_000)
        #expect(try confirmKnown(claim("home")) == nil)
    }

    @Test func whatWasNewsElsewhereIsToldOnceAllHaveConfirmed() throws {
        try submit(100, to: "one", "two")
        let one = try claim("one")
        try submit(110, to: "one", "two")
        // The first gave way at one service, and is news at the other.
        #expect(try confirmNew(one) == nil)
        let two = try claim("two")
        #expect(try confirmNew(two) == nil)
        #expect(try confirmKnown(claim("one"))?.facts == facts)
    }

    @Test func whatWasNewsToOneThatGaveWayElsewhereIsToldByItsSuccessor() throws {
        try submit(100, to: "one", "two")
        let one = try claim("one")
        let gone = try submit(110, to: "one", "two")
        #expect(try confirmNew(one) == nil)
        try submit(120, to: "one", "two")
        #expect(try store.state(gone, endpoint: "one") == .superseded)
        #expect(try confirmKnown(claim("two")) == nil)
        #expect(try confirmKnown(claim("one"))?.facts == facts)
    }

    @Test func aServiceWhoseWordDoesNotCountChangesNothing() throws {
        let event = maker.event(.achievement(id: "walker", change: .steps(100)))
        try store.accept(event, way("home"), way("other", confirms: false))
        #expect(try confirmNew(claim("other")) == nil)
        #expect(try confirmKnown(claim("home")) == nil)
    }
}
