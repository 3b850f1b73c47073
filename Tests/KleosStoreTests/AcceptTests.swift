import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

@Suite struct AcceptTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    @Test func theSameIDWithTheSameContentIsADuplicate() throws {
        let first = maker.score(5, clientID: "run-1")
        try store.accept(first)
        #expect(
            try store.accept(maker.score(5, clientID: "run-1")) == .duplicate(first.key, isSuperseded: false))
        #expect(try store.accept(maker.score(6, clientID: "run-1")) == .idConflict(existing: first.key))
        #expect(try store.accept(maker.score(5, player: "q", clientID: "run-1")) == .idConflict(existing: first.key))
        #expect(try store.all().count == 1)
    }

    @Test func metadataIsPartOfTheContent() throws {
        let subject = Subject.score(leaderboard: "b", value: ScoreValue(units: 5))
        let first = maker.event(subject, clientID: "run-1", metadata: Array("{}".utf8))
        try store.accept(first)
        let same = maker.event(subject, clientID: "run-1", metadata: Array("{}".utf8))
        #expect(try store.accept(same) == .duplicate(first.key, isSuperseded: false))
        let other = maker.event(subject, clientID: "run-1", metadata: Array("[]".utf8))
        #expect(try store.accept(other) == .idConflict(existing: first.key))
    }

    @Test func anIDBelongsToOneUserAndGame() throws {
        let mine = maker.score(5, clientID: "1")
        let theirs = maker.score(5, clientID: "1", uid: 2)
        let elsewhere = maker.event(
            .score(leaderboard: "b", value: ScoreValue(units: 5)), game: "other", clientID: "1")
        for event in [mine, theirs, elsewhere] {
            let result = try store.accept(event, way(merge: .none))
            #expect(result == .accepted(event.key))
        }
    }

    @Test func aDuplicateSaysWhetherTheEventIsSuperseded() throws {
        let low = maker.score(5, clientID: "low")
        try store.accept(low)
        try store.accept(maker.score(9))
        #expect(try store.accept(maker.score(5, clientID: "low")) == .duplicate(low.key, isSuperseded: true))
    }

    @Test func playersThatOnlyLookAlikeAreDifferent() throws {
        let composed = maker.score(5, player: "\u{E9}")
        let decomposed = maker.score(4, player: "e\u{301}")
        #expect(try store.accept(composed) == .accepted(composed.key))
        #expect(try store.accept(decomposed) == .accepted(decomposed.key))
    }

    @Test func incrementsAreNeverMerged() throws {
        for _ in 0..<3 {
            let event = maker.event(.achievement(id: "a", change: .increment(1)))
            #expect(try store.accept(event, way(merge: .none)) == .accepted(event.key))
        }
        #expect(try store.all(DeliveryFilter(states: [.superseded])).isEmpty)
    }

    @Test func progressAndStepsDoNotReplaceEachOther() throws {
        let progress = maker.event(.achievement(id: "a", change: .progress(50)))
        let steps = maker.event(.achievement(id: "a", change: .steps(3)))
        try store.accept(progress)
        #expect(try store.accept(steps) == .accepted(steps.key))
        #expect(try store.state(progress) == .ready)
    }

    @Test func anEqualScoreLeavesTheEarlierInPlace() throws {
        let (first, second) = (maker.score(5), maker.score(5))
        try store.accept(first)
        #expect(try store.accept(second) == .superseded(second.key))
        #expect(try store.state(first) == .ready)
    }

    @Test func eachWayHasItsOwnDelivery() throws {
        let event = maker.score(5)
        try store.accept(event, way("one"), way("two"))
        let claim = try #require(try store.claim(endpoint: "one").first)
        try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
        #expect(try store.state(event, endpoint: "one") == .delivered)
        #expect(try store.state(event, endpoint: "two") == .ready)
    }

    @Test func whereTheLastWriteWinsTheStandingSuppresses() throws {
        let way = way(isStrict: true)
        try store.accept(maker.score(10), way)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
        let worse = maker.score(9)
        #expect(try store.accept(worse, way) == .superseded(worse.key))
        #expect(try store.all().first?.reason == .standing)
        let better = maker.score(11)
        #expect(try store.accept(better, way) == .accepted(better.key))
        // Elsewhere nothing is suppressed because of an earlier delivery.
        let elsewhere = maker.score(9, board: "other")
        #expect(try store.accept(elsewhere) == .accepted(elsewhere.key))
    }

    @Test func theCapRefusesNewEventsAndDeliveryGoesOn() throws {
        let options = StoreOptions(maximumBytes: 400_000, freeFloorBytes: 0, reserveBytes: 0, machineID: "m")
        let store = try TemporaryStore(options: options)
        let maker = EventMaker(store.clock)
        var results: [AcceptResult] = []
        for number in 0..<400 {
            let metadata = [UInt8](repeating: 0x20, count: 4_000)
            let subject = Subject.score(leaderboard: "b\(number)", value: ScoreValue(units: 1))
            results.append(try store.accept(maker.event(subject, metadata: metadata)))
            if case .queueFull = results.last { break }
        }
        guard case .queueFull(let reason) = results.last else { return #expect(Bool(false), "never full") }
        #expect(reason.contains("MaximumSize="))
        let claim = try #require(try store.claim().first)
        let settled = try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
        #expect(settled.state == .delivered)
        let report = try store.run { (outbox) throws(StoreError) in try outbox.storage() }
        #expect(!report.isAccepting)
    }

    @Test(arguments: [
        (100, 100, 50, 10, true), (99, 100, 50, 10, false), (0, 100, 9, 10, true), (0, 100, 10, 10, false),
    ])
    func capAndFloor(used: Int, limit: Int, free: Int, floor: Int, isRefused: Bool) {
        let reason = Space.reasonToRefuse(
            usedBytes: Int64(used), limitBytes: Int64(limit), freeBytes: Int64(free), floorBytes: Int64(floor))
        #expect((reason != nil) == isRefused)
    }
}
