import KleosModel
import KleosStore
import KleosTestSupport
import Testing

/// Where the latest counts, an event that waited in the spool is as old as its file, whenever it is taken in.
@Suite struct SpooledOrderTests {
    let store: TemporaryStore
    let maker: EventMaker
    let latest = way(merge: .latest, isStrict: true)

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    /// An event that was spooled so long ago.
    private func spooled(_ value: Int64, agoMilliseconds: Int64) -> Event {
        var event = maker.score(value)
        event.waitedInSpool()
        event.wasTakenOver(atMilliseconds: store.clock.nowMilliseconds - agoMilliseconds)
        return event
    }

    @Test func whatIsUnderWayAndNewerStays() throws {
        let newer = maker.score(20)
        try store.accept(newer, latest)
        let older = spooled(10, agoMilliseconds: 5_000)
        #expect(try store.accept(older, latest) == .superseded(older.key))
        #expect(try store.state(newer) == .ready)
        #expect(try store.claim().map(\.event.key) == [newer.key])
        let later = spooled(12, agoMilliseconds: 5_000)
        #expect(try store.accept(later, latest) == .superseded(later.key))
    }

    @Test func theTimeThatTheGameGaveIsTheEventsTimeInTheSpoolToo() throws {
        let newer = maker.score(20)
        try store.accept(newer, latest)
        var older = maker.score(10)
        older.occurredAtMilliseconds = store.clock.nowMilliseconds - 5_000
        older.waitedInSpool()
        older.wasTakenOver(atMilliseconds: store.clock.nowMilliseconds + 5_000)
        #expect(try store.accept(older, latest) == .superseded(older.key))
    }

    /// While one event waits for a daemon that hangs, a later one is spooled.
    @Test func whatCameLateOverTheSocketIsAsOldAsItsClientSays() throws {
        var slow = maker.score(10)
        slow.wasTakenOver(atMilliseconds: store.clock.nowMilliseconds - 5_000)
        try store.accept(slow, latest)
        let later = spooled(20, agoMilliseconds: 2_000)
        #expect(try store.accept(later, latest) == .accepted(later.key))
        #expect(try store.claim().map(\.event.key) == [later.key])
    }

    @Test func ofOneMomentTheLastThatIsTakenInCounts() throws {
        let events = [10, 20, 15].map { spooled($0, agoMilliseconds: 5_000) }
        for event in events { #expect(try store.accept(event, latest) == .accepted(event.key)) }
        #expect(try store.claim().map(\.event.key) == [events[2].key])
    }

    @Test func whatIsConfirmedAndNewerIsNotUndone() throws {
        let newer = maker.score(20)
        try store.accept(newer, latest)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .delivered(Confirmation(rank: 1), notice: nil), .delivered)
        let older = spooled(10, agoMilliseconds: 5_000)
        #expect(try store.accept(older, latest) == .superseded(older.key))
        #expect(try store.claim().isEmpty)
    }

    @Test func itComesBackWhereTheNewerOneDies() throws {
        let newer = maker.score(20)
        try store.accept(newer, latest)
        let older = spooled(10, agoMilliseconds: 5_000)
        try store.accept(older, latest)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .dead(.rejected, message: "no"), .permanent)
        #expect(try store.claim().map(\.event.key) == [older.key])
    }

    @Test func whatIsNewerThanAllOthersCounts() throws {
        let older = maker.score(20)
        try store.accept(older, latest)
        store.clock.advance(milliseconds: 10_000)
        let newer = spooled(10, agoMilliseconds: 5_000)
        #expect(try store.accept(newer, latest) == .accepted(newer.key))
        #expect(try store.claim().map(\.event.key) == [newer.key])
    }

    @Test func overTheSocketTheTimeThatAGameGivesOrdersNothing() throws {
        let first = maker.score(20)
        try store.accept(first, latest)
        var second = maker.score(10)
        second.occurredAtMilliseconds = store.clock.nowMilliseconds - 5_000
        #expect(try store.accept(second, latest) == .accepted(second.key))
        #expect(try store.claim().map(\.event.key) == [second.key])
    }

    @Test func whereTheBestCountsTimeDoesNot() throws {
        let newer = maker.score(20)
        try store.accept(newer)
        let better = spooled(30, agoMilliseconds: 5_000)
        #expect(try store.accept(better) == .accepted(better.key))
    }
}
