import KleosModel
import KleosStore
import KleosTestSupport
import Testing

/// What is known of a delivery that went out, however it comes back.
@Suite struct LandingTests {
    let store: TemporaryStore
    let maker: EventMaker
    let letter = Array("POST /scores".utf8)

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    /// Claims all that is due, with a letter for each, as whoever sends does.
    private func claimWithLetters() throws -> [Claim] {
        let (now, letter) = (store.clock.nowMilliseconds, letter)
        return try store.run { (outbox) throws(StoreError) in
            let claims = try outbox.claim(endpoint: "home", limit: 10, nowMilliseconds: now)
            for claim in claims { try outbox.saveRendering(letter, for: claim.id) }
            return claims
        }
    }

    /// The store as it is after a kill and a new start, with what was in flight taken back.
    private func restarted() throws -> (store: TemporaryStore, report: RecoveryReport) {
        let again = try TemporaryStore(folder: try store.snapshot(), clock: store.clock)
        let now = again.now
        let report = try again.run { (outbox) throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: [], now: now)
        }
        return (again, report)
    }

    @Test func whatCameBackFromAFlightWasNotInterruptedWithTheRest() throws {
        for board in ["a", "b"] { try store.accept(maker.score(1, board: board)) }
        let claims = try store.claim()
        try #require(claims.count == 2)
        let now = store.now
        try store.run { (outbox) throws(StoreError) in try outbox.giveBack(claims[0].id, now: now) }
        let (again, report) = try restarted()
        #expect(report.returned == 1)
        let claim = try #require(try again.claim().first { $0.id == claims[0].id })
        #expect(claim.attemptsMade == 0)
        #expect(!claim.mayHaveTakenEffect)
    }

    @Test func aRetryGoesOutAsTheFirstTry() throws {
        try store.accept(maker.score(1))
        let first = try #require(try claimWithLetters().first)
        try store.settle(
            first, .retry(dueMilliseconds: store.clock.nowMilliseconds, isServerError: false), mayHaveTakenEffect: true)
        #expect(try store.claim().map(\.rendering) == [letter])
    }

    @Test func whatDiedUnansweredAndIsRetriedGoesOutAsBefore() throws {
        let event = maker.score(1)
        try store.accept(event)
        let first = try #require(try claimWithLetters().first)
        try store.settle(first, .dead(.ambiguous, message: "no answer came"), mayHaveTakenEffect: true)
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in try outbox.retry(.keys([event.key]), now: now) }
        #expect(try store.claim().map(\.rendering) == [letter])
    }

    @Test func whatWasInFlightAtAKillGoesOutAsBefore() throws {
        try store.accept(maker.score(1))
        try #require(try claimWithLetters().count == 1)
        #expect(try restarted().store.claim().map(\.rendering) == [letter])
    }
}
