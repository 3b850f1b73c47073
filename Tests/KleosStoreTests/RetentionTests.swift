import KleosModel
import KleosStore
import KleosTestSupport
import Testing

/// What goes after its time, and what stays whatever its age.
@Suite struct RetentionTests {
    let store: TemporaryStore
    let maker: EventMaker
    private static let retention: Int64 = 31 * 86_400_000

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    private func maintain() throws {
        let now = store.now
        while try store.run({ (outbox) throws(StoreError) in try outbox.maintain(now: now) }) {}
    }

    private func deliver(_ event: Event) throws {
        try store.accept(event)
        try store.settle(try #require(try store.claim().first), .delivered(Confirmation(), notice: nil))
    }

    @Test func anIDStaysKnownWhenItsReceiptIsGone() throws {
        let first = maker.score(5, clientID: "run-1")
        try deliver(first)
        store.clock.advance(milliseconds: Self.retention)
        try maintain()
        #expect(try store.all().isEmpty)
        #expect(
            try store.accept(maker.score(5, clientID: "run-1")) == .duplicate(first.key, isSuperseded: false))
        #expect(try store.accept(maker.score(6, clientID: "run-1")) == .idConflict(existing: first.key))
    }

    @Test func whatMayComeBackStaysWhateverItsAge() throws {
        let (low, bogus) = (maker.score(10), maker.score(99))
        try store.accept(low)
        try store.accept(bogus)
        store.clock.advance(milliseconds: Self.retention)
        try maintain()
        #expect(try store.state(low) == .superseded)
        try store.settle(try #require(try store.claim().first), .dead(.rejected, message: "no"))
        #expect(try store.claim().map(\.event.key) == [low.key])
    }

    @Test func anEventStaysWhileOneOfItsServicesHasToGetIt() throws {
        let event = maker.score(1)
        try store.accept(event, way(), way("away"))
        try store.settle(try #require(try store.claim().first), .delivered(Confirmation(), notice: nil))
        store.clock.advance(milliseconds: Self.retention)
        try maintain()
        #expect(try store.claim(endpoint: "away").map(\.event.key) == [event.key])
    }

    @Test func theTimeBeginsWhenTheClockIsRight() throws {
        let event = maker.score(1)
        store.clock.setSynchronized(false)
        store.clock.step(milliseconds: -10 * Self.retention)
        try deliver(event)
        store.clock.step(milliseconds: 10 * Self.retention)
        store.clock.setSynchronized(true)
        try maintain()
        #expect(try store.state(event) == .delivered)
        store.clock.advance(milliseconds: Self.retention)
        try maintain()
        #expect(try store.state(event) == nil)
    }

    @Test func nothingGoesOnTheWordOfAWildClock() throws {
        let event = maker.score(1)
        try deliver(event)
        store.clock.setSynchronized(false)
        store.clock.step(milliseconds: 10 * Self.retention)
        try maintain()
        #expect(try store.state(event) == .delivered)
    }
}
