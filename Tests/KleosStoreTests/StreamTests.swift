import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct StreamTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    @Test func anEventGoesFromAcceptToDelivered() throws {
        let event = maker.score(10)
        #expect(try store.accept(event) == .accepted(event.key))
        let claim = try #require(try store.claim().first)
        #expect(claim.event == event)
        #expect(try store.state(event) == .sending)
        try store.settle(claim, .delivered(Confirmation(rank: 3), notice: nil), .delivered)
        #expect(try store.state(event) == .delivered)
        #expect(try store.claim().isEmpty)
    }

    @Test func aBetterEventSupersedesAndAWorseOneIsSupersededAtOnce() throws {
        let (low, high, middle) = (maker.score(10), maker.score(30), maker.score(20))
        try store.accept(low)
        #expect(try store.accept(high) == .accepted(high.key))
        #expect(try store.accept(middle) == .superseded(middle.key))
        #expect(try store.state(low) == .superseded)
        #expect(try store.claim().map(\.event.key) == [high.key])
    }

    @Test func theBestThatWasSupersededComesBackWhenItsSupersederDies() throws {
        let (low, middle, bogus) = (maker.score(10), maker.score(20), maker.score(99))
        try store.accept(low)
        try store.accept(middle)
        try store.accept(bogus)
        let claim = try #require(try store.claim().first)
        #expect(claim.event.key == bogus.key)
        try store.settle(claim, .dead(.rejected, message: "no"), .permanent)
        #expect(try store.state(bogus) == .dead)
        #expect(try store.state(middle) == .ready)
        #expect(try store.state(low) == .superseded)
        let second = try #require(try store.claim().first)
        try store.settle(second, .dead(.rejected, message: "no"), .permanent)
        #expect(try store.state(low) == .ready)
    }

    @Test func whatGaveWayLongAgoStillNamesWhatTookItsPlace() throws {
        let events = (0..<200).map { maker.score(Int64($0)) }
        for event in events { try store.accept(event) }
        var records: [EventKey: DeliveryRecord] = [:]
        for record in try store.all() { records[record.key] = record }
        var (key, hops) = (events[0].key, 0)
        while let next = records[key]?.supersededBy, hops < 10 { (key, hops) = (next, hops + 1) }
        #expect(key == events.last?.key)
    }

    @Test func ofAllThatOneReplacedTheBestComesBack() throws {
        let (bogus, low, middle) = (maker.score(99), maker.score(10), maker.score(20))
        for event in [bogus, low, middle] { try store.accept(event) }
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .dead(.rejected, message: "no"), .permanent)
        #expect(try store.state(middle) == .ready)
        #expect(try store.state(low) == .superseded)
    }

    @Test func aHeadInBackoffStepsAsideUnlessTheStreamIsStrict() throws {
        for isStrict in [false, true] {
            let player = "strict-\(isStrict)"
            let (first, second) = (maker.score(1, player: player), maker.score(2, player: player))
            let way = way(merge: .none, isStrict: isStrict)
            try store.accept(first, way)
            try store.accept(second, way)
            #expect(try store.state(second) == (isStrict ? .waiting : .ready))
            let claim = try #require(try store.claim().first { $0.event == first })
            let due = store.clock.nowMilliseconds + 10_000
            try store.settle(claim, .retry(dueMilliseconds: due, isServerError: true))
            #expect(try store.state(second) == (isStrict ? .waiting : .sending))
        }
    }

    @Test func aHeldHeadStopsAStrictStreamAndNoOther() throws {
        for isStrict in [false, true] {
            let player = "strict-\(isStrict)"
            let (first, second, third) = (
                maker.score(1, player: player), maker.score(2, player: player), maker.score(3, player: player)
            )
            let way = way(merge: .none, isStrict: isStrict)
            try store.accept(first, way)
            try store.accept(second, way)
            let now = store.now
            _ = try store.run { (outbox) throws(StoreError) in try outbox.hold(.keys([first.key]), now: now) }
            #expect(try store.state(second) == (isStrict ? .waiting : .ready))
            _ = try store.run { (outbox) throws(StoreError) in try outbox.discard(.keys([second.key]), now: now) }
            try store.accept(third, way)
            #expect(try store.state(third) == (isStrict ? .waiting : .ready))
            _ = try store.run { (outbox) throws(StoreError) in try outbox.release(.keys([first.key]), now: now) }
            #expect(try store.state(first) == .ready)
        }
    }

    @Test func whatIsRetriedLateDoesNotUndoABetterOneWhereTheLastWriteWins() throws {
        for isStrict in [true, false] {
            let player = "strict-\(isStrict)"
            let (low, high) = (maker.score(9, player: player), maker.score(10, player: player))
            let way = way(isStrict: isStrict)
            for (event, settlement) in [
                (low, Settlement.dead(.rejected, message: "no")), (high, .delivered(Confirmation(), notice: nil)),
            ] {
                try store.accept(event, way)
                let claim = try #require(try store.claim().first)
                try store.settle(claim, settlement)
            }
            let now = store.now
            _ = try store.run { (outbox) throws(StoreError) in try outbox.retry(.keys([low.key]), now: now) }
            #expect(try store.state(low) == (isStrict ? .superseded : .ready))
        }
    }

    @Test func theSupersederKeepsTheDueTimeOfItsStream() throws {
        try store.accept(maker.score(1))
        let claim = try #require(try store.claim().first)
        let due = store.clock.nowMilliseconds + 10_000
        try store.settle(claim, .retry(dueMilliseconds: due, isServerError: false))
        try store.accept(maker.score(2))
        #expect(try store.claim().isEmpty)
        let next = try store.run { (outbox) throws(StoreError) in try outbox.nextDueMilliseconds(endpoint: "home") }
        #expect(next == due)
        store.clock.advance(milliseconds: 10_000)
        let second = try #require(try store.claim().first)
        #expect(second.attemptsMade == 0)
        #expect(second.backoffAttempts == 1)
    }
}
