import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// What is in flight after others of its flight landed, and after a transaction was undone.
@Suite struct FlightTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    /// Undoes a transaction after it changed something.
    private func undo(_ work: @escaping @Sendable (Outbox) throws(StoreError) -> Void = { _ in }) {
        #expect(throws: StoreError.self) {
            try store.run { (outbox) throws(StoreError) in
                try outbox.setPause(endpoint: "undone", reason: "test", nowMilliseconds: 0)
                try work(outbox)
                throw StoreError(.invalidCursor, operation: "go on", message: "on purpose")
            }
        }
    }

    @Test(arguments: [false, true]) func aStreamGoesOnAfterATransactionWasUndone(isMerged: Bool) throws {
        let way = way(merge: isMerged ? .best(.descending) : .none)
        for player in ["ada", "bob"] { try store.accept(maker.score(1, player: player), way) }
        let claims = try store.claim()
        #expect(claims.count == 2)
        try store.settle(claims[0], .delivered(Confirmation(), notice: nil), .delivered)
        undo()
        try store.accept(maker.score(2, player: "ada"), way)
        #expect(try store.claim().map(\.event.player) == ["ada"])
        #expect(try store.run { (outbox) throws(StoreError) in try outbox.status() }.endpoints[0].counts[.sending] == 2)
    }

    @Test func whatWasRetriedAfterItsEndIsNotInFlight() throws {
        let events = [maker.score(1, player: "ada"), maker.score(1, player: "bob")]
        for event in events { try store.accept(event, way(merge: .none)) }
        let claims = try store.claim()
        try store.settle(claims[0], .dead(.rejected, message: "no"), .permanent)
        let (key, now) = (claims[0].event.key, store.now)
        _ = try store.run { (outbox) throws(StoreError) in try outbox.retry(.keys([key], endpoint: nil), now: now) }
        let copy = try TemporaryStore(folder: try store.snapshot(), clock: store.clock)
        let report = try copy.run { (outbox) throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: ["home"], now: now)
        }
        #expect(report.ambiguous == 1)
        #expect(try copy.state(events[0]) == .ready)
        undo()
        #expect(try store.state(events[0]) == .ready)
        #expect(try store.claim().map(\.event.key) == [key])
    }

    @Test func aNumberThatIsGivenAgainIsNotInFlight() throws {
        let options = StoreOptions(freeFloorBytes: 0, reserveBytes: 0, maximumDeadPerUser: 0, machineID: "machine-1")
        let store = try TemporaryStore(options: options)
        let maker = EventMaker(store.clock)
        for player in ["ada", "bob"] { try store.accept(maker.score(1, player: player), way(merge: .none)) }
        let claims = try store.claim()
        try store.settle(claims[1], .dead(.rejected, message: "no"), .permanent)
        let now = store.now
        _ = try store.run { (outbox) throws(StoreError) in try outbox.maintain(now: now) }
        #expect(try store.state(claims[1].event) == nil)
        let next = maker.score(3, player: "eve")
        try store.accept(next, way(merge: .none))
        let copy = try TemporaryStore(folder: try store.snapshot(), clock: store.clock, options: options)
        let report = try copy.run { (outbox) throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: ["home"], now: now)
        }
        #expect(report.ambiguous == 1)
        #expect(try copy.state(next) == .ready)
    }

    @Test func aClaimThatFailsTakesNothing() throws {
        let event = maker.score(1)
        try store.accept(event)
        let now = store.clock.nowMilliseconds
        #expect(throws: StoreError.self) {
            try store.run { (outbox) throws(StoreError) in
                _ = try outbox.claim(endpoint: "home", limit: 1, nowMilliseconds: now)
                throw StoreError(.invalidCursor, operation: "go on", message: "on purpose")
            }
        }
        #expect(try store.state(event) == .ready)
        #expect(try store.claim().map(\.event.key) == [event.key])
    }

    @Test func aCursorFarBeyondTheKeysFindsNothingMore() throws {
        let event = maker.score(1)
        try store.accept(event)
        let now = store.now
        let report = try store.run { (outbox) throws(StoreError) in
            try outbox.hold(.keys([event.key], endpoint: nil), after: String(Int64.max), now: now)
        }
        #expect(report.changed == 0 && report.cursor == nil)
    }

    @Test func whatIsBlockedIsNotLookedAtAgainBecauseAnotherStreamGoesOn() throws {
        for value in 1...70 { try store.accept(maker.score(Int64(value), board: "broken"), way(merge: .none)) }
        let later = store.clock.nowMilliseconds + 1_000_000
        for claim in try store.claim(64) {
            try store.settle(claim, .retry(dueMilliseconds: later, isServerError: false))
        }
        let blocked = try #require(store.all().filter { $0.attempts == 0 }.map(\.id.number).max())
        for value in 1...2 {
            try store.accept(maker.score(Int64(value), board: "sound"))
            let claim = try #require(store.claim().first)
            #expect(claim.stream.item == "sound")
            try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
            #expect(store.store.withOutbox { $0.turns.cursor(lane: 1, weight: 1) } ?? 0 >= blocked)
        }
    }
}
