import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// A change happens only to what it was decided about.
@Suite struct GuardTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    @Test func whatChangedMeanwhileIsNotOverwritten() throws {
        let event = maker.score(1)
        try store.accept(event)
        // Another one in flight, so that no counter gives the mistake away.
        try store.accept(maker.score(1, board: "other"))
        let claim = try #require(try store.claim().first { $0.event == event })
        let now = store.now
        let error = #expect(throws: StoreError.self) {
            try store.run { outbox throws(StoreError) in
                guard var stale = try outbox.deliveries.row(claim.id), var current = try outbox.deliveries.row(claim.id)
                else { return }
                try outbox.move(&current, to: .dead, reason: .rejected, now: now)
                try outbox.move(&stale, to: .ready, now: now)
            }
        }
        #expect(error?.kind == .fault)
        // All that the transaction did is undone with it.
        #expect(try store.state(event) == .sending)
    }

    @Test(arguments: [Settlement.delivered(Confirmation(), notice: nil), .dead(.rejected, message: "no")])
    func whatIsNotInFlightIsNotSettled(second: Settlement) throws {
        let event = maker.score(1)
        try store.accept(event)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .dead(.ambiguous, message: "who knows"), .retry)
        #expect(try store.settle(claim, second, .delivered) == SettleResult(state: .dead, isStale: true))
        let record = try #require(try store.all().first)
        #expect(record.reason == .ambiguous)
        #expect(record.attempts == 1)
    }

    @Test func whatReturnedToTheQueueIsNotSettledByALateAnswer() throws {
        let event = maker.score(1)
        try store.accept(event)
        let claim = try #require(try store.claim().first)
        let due = store.clock.nowMilliseconds + 1_000
        try store.settle(claim, .retry(dueMilliseconds: due, isServerError: false))
        #expect(
            try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
                == SettleResult(state: .ready, isStale: true))
        #expect(try store.all().first?.attempts == 1)
    }
}
