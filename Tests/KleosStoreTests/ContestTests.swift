import KleosModel
import KleosStore
import KleosTestSupport
import Testing

/// What gave way to a better one comes back if that was none, and only then.
@Suite struct ContestTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    private func reject(_ event: Event) throws {
        let claim = try #require(try store.claim().first)
        try #require(claim.event.key == event.key)
        try store.settle(claim, .dead(.rejected, message: "no"))
    }

    @Test func theBestComesBackHoweverOftenItsBetterWasTried() throws {
        let (low, bogus) = (maker.score(10), maker.score(99))
        try store.accept(low)
        try store.accept(bogus)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .retry(dueMilliseconds: store.clock.nowMilliseconds, isServerError: true))
        try reject(bogus)
        #expect(try store.state(low) == .ready)
    }

    @Test func whereLowerIsBetterTheLowestComesBack() throws {
        let events = [30, 20, 10].map { maker.score($0) }
        for event in events { try store.accept(event, way(merge: .best(.ascending))) }
        try reject(events[2])
        #expect(try store.state(events[1]) == .ready)
        #expect(try store.state(events[0]) == .superseded)
    }

    @Test func whatIsWorseThanSomethingHeldDoesNotComeBack() throws {
        let (low, high, bogus) = (maker.score(10), maker.score(20), maker.score(99))
        try store.accept(low)
        try store.accept(high)
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in try outbox.hold(.keys([high.key]), now: now) }
        try store.accept(bogus)
        try reject(bogus)
        #expect(try store.state(low) == .superseded)
        #expect(try store.state(high) == .held)
    }

    @Test func whatIsWorseThanSomethingConfirmedDoesNotComeBack() throws {
        let (low, high, bogus) = (maker.score(10), maker.score(20), maker.score(99))
        try store.accept(low)
        try store.accept(high)
        let claim = try #require(try store.claim().first)
        try store.accept(bogus)
        try store.settle(claim, .delivered(Confirmation(), notice: nil))
        try reject(bogus)
        #expect(try store.state(low) == .superseded)
    }
}
