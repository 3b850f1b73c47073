import KleosModel
import KleosStore
import KleosTestSupport
import Synchronization
import Testing

/// What is ready behind a delivery in flight cannot be claimed; the claimant must hear when it can.
@Suite struct BlockedHeadTests {
    /// How the delivery in flight ends.
    static let endings: [Settlement] = [
        .delivered(Confirmation(), notice: nil), .dead(.rejected, message: "no"),
        .retry(dueMilliseconds: .max / 4, isServerError: false),
    ]

    @Test(arguments: endings) func aDeliveryBehindOneInFlightIsAnnouncedWhenThatEnds(_ ending: Settlement) throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        // Neither replaces the other.
        for change in [AchievementChange.progress(50), .steps(3)] {
            try store.accept(maker.event(.achievement(id: "a", change: change)), way())
        }
        // The first goes into backoff, the second steps up; then both are due, and one of them is in flight.
        let first = try #require(try store.claim().first)
        try store.settle(first, .retry(dueMilliseconds: store.clock.nowMilliseconds + 1_000, isServerError: false))
        store.clock.advance(milliseconds: 1_000)
        let flying = try store.claim()
        #expect(flying.count == 1, "one of a stream")
        #expect(try nextDue(store) == nil, "the other one waits for it")

        let announced = Mutex<Set<String>>([])
        store.store.setChangeHandler { changes in announced.withLock { $0.formUnion(changes.readyEndpoints) } }
        try store.settle(flying[0], ending)
        #expect(announced.withLock { $0 } == ["home"])
        #expect(try store.claim().count == 1)
        store.close()
    }

    @Test func theEndOfAStreamAnnouncesNothing() throws {
        let store = try TemporaryStore()
        try store.accept(EventMaker(store.clock).score(1), way(merge: .none))
        let claim = try #require(try store.claim().first)
        let announced = Mutex<Set<String>>([])
        store.store.setChangeHandler { changes in announced.withLock { $0.formUnion(changes.readyEndpoints) } }
        try store.settle(claim, .delivered(Confirmation(), notice: nil))
        #expect(announced.withLock { $0 }.isEmpty)
        store.close()
    }

    @Test func whereOneGoesAtATimeWhatIsFreshHasItsTurnBesideWhatFails() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        for number in 0..<20 { try store.accept(maker.score(1, player: "broken-\(number)"), way(merge: .none)) }
        let due = store.clock.nowMilliseconds + 1
        for claim in try store.claim(20) { try store.settle(claim, .retry(dueMilliseconds: due, isServerError: true)) }
        let sound = maker.score(1, player: "sound")
        try store.accept(sound, way(merge: .none))
        store.clock.advance(milliseconds: 10)
        var asked: [Event] = []
        for _ in 0..<4 {
            let claim = try #require(try store.claim(1).first)
            asked.append(claim.event)
            try store.settle(claim, .retry(dueMilliseconds: due, isServerError: true))
        }
        #expect(asked.contains(sound))
        store.close()
    }

    private func nextDue(_ store: TemporaryStore) throws -> Int64? {
        try store.run { (outbox) throws(StoreError) in try outbox.nextDueMilliseconds(endpoint: "home") }
    }
}
