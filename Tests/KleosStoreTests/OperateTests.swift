import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

@Suite struct OperateTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    func operate(_ verb: String, _ selection: DeliverySelection) throws -> OperationReport {
        let now = store.now
        return try store.run { (outbox) throws(StoreError) in
            switch verb {
            case "retry": try outbox.retry(selection, now: now)
            case "hold": try outbox.hold(selection, now: now)
            case "release": try outbox.release(selection, now: now)
            default: try outbox.discard(selection, now: now)
            }
        }
    }

    /// An event alone in its stream, brought into `state`.
    func event(in state: DeliveryState) throws -> (Event, Claim?) {
        let event = maker.score(1, board: "\(state)")
        let way = way(merge: .none)
        try store.accept(event, way)
        switch state {
        case .held: _ = try operate("hold", .keys([event.key]))
        case .discarded: _ = try operate("discard", .keys([event.key]))
        case .sending: return (event, try store.claim().first)
        case .delivered:
            try store.settle(try #require(try store.claim().first), .delivered(Confirmation(), notice: nil))
        case .dead: try store.settle(try #require(try store.claim().first), .dead(.rejected, message: "no"))
        default: break
        }
        return (event, nil)
    }

    @Test(arguments: [
        ("hold", DeliveryState.ready, DeliveryState.held), ("release", .held, .ready), ("retry", .dead, .ready),
        ("discard", .ready, .discarded), ("discard", .held, .discarded), ("discard", .dead, .discarded),
    ])
    func aVerbChangesItsStates(verb: String, from: DeliveryState, to: DeliveryState) throws {
        let (event, _) = try event(in: from)
        #expect(try operate(verb, .keys([event.key])).changed == 1)
        #expect(try store.state(event) == to)
    }

    @Test(arguments: [
        ("hold", DeliveryState.dead), ("hold", .delivered), ("release", .ready), ("retry", .ready),
        ("retry", .delivered), ("retry", .discarded), ("discard", .delivered),
    ])
    func otherStatesStayAndTheReportSaysWhy(verb: String, state: DeliveryState) throws {
        let (event, _) = try event(in: state)
        let report = try operate(verb, .keys([event.key]))
        #expect(report.changed == 0)
        #expect(report.unchanged.map(\.reason) == ["it is \(state.rawValue)"])
        #expect(try store.state(event) == state)
    }

    @Test(arguments: [("hold", DeliveryState.held), ("discard", .discarded)])
    func inFlightTheVerbTakesEffectOnReturn(verb: String, state: DeliveryState) throws {
        let (event, claim) = try event(in: .sending)
        #expect(try operate(verb, .keys([event.key])).changed == 1)
        #expect(try store.state(event) == .sending)
        try store.settle(try #require(claim), .retry(dueMilliseconds: 0, isServerError: false))
        #expect(try store.state(event) == state)
    }

    @Test func whatCannotBeRenderedForWantOfItsGameWaitsForTheConfiguration() throws {
        let (event, claim) = try event(in: .sending)
        let (id, now) = (try #require(claim).id, store.now)
        let isMore = try store.run { (outbox) throws(StoreError) in
            try outbox.holdUnconfigured(id, now: now)
            return try outbox.reconcile(games: [], endpoints: ["home"], now: now)
        }
        #expect(!isMore)
        let held = try #require(try store.all().first { $0.key == event.key })
        #expect(held.state == .held && held.reason == .unconfigured)
        _ = try store.run { (outbox) throws(StoreError) in
            try outbox.reconcile(games: [event.game], endpoints: ["home"], now: now)
        }
        #expect(try store.all().first { $0.key == event.key }?.state == .ready)
    }

    @Test func aConfirmationWinsOverAHoldInFlight() throws {
        let (event, claim) = try event(in: .sending)
        _ = try operate("hold", .keys([event.key]))
        try store.settle(try #require(claim), .delivered(Confirmation(), notice: nil))
        #expect(try store.state(event) == .delivered)
    }

    @Test func anUnknownEventIsReported() throws {
        let report = try operate("hold", .keys([maker.score(1).key]))
        #expect(report.unchanged.map(\.reason) == ["no such event"])
    }

    @Test func aFilterWorksInSteps() throws {
        for number in 0..<450 { try store.accept(maker.score(1, board: "b\(number)")) }
        let now = store.now
        var changed = 0
        var cursor: String?
        repeat {
            let from = cursor
            let report = try store.run { (outbox) throws(StoreError) in
                try outbox.hold(.filter(DeliveryFilter(game: "g")), after: from, now: now)
            }
            changed += report.changed
            cursor = report.cursor
        } while cursor != nil
        #expect(changed == 450)
        #expect(try store.all(DeliveryFilter(states: [.held])).count == 450)
    }

    @Test func aListIsPagedAndFiltered() throws {
        for number in 0..<7 { try store.accept(maker.score(1, board: "b\(number)", uid: UInt32(number % 2))) }
        let metadata = maker.event(
            .score(leaderboard: "text", value: ScoreValue(units: 1)), metadata: Array(#"{"map":"100%"}"#.utf8))
        try store.accept(metadata)
        func page(_ filter: DeliveryFilter, _ uid: UInt32?, _ cursor: String?, _ limit: Int) throws -> DeliveryPage {
            try store.run { (outbox) throws(StoreError) in
                try outbox.list(filter, visibleTo: uid, cursor: cursor, limit: limit)
            }
        }
        let first = try page(DeliveryFilter(), nil, nil, 5)
        let second = try page(DeliveryFilter(), nil, first.cursor, 5)
        #expect(first.deliveries.count == 5 && first.cursor != nil)
        #expect(second.deliveries.count == 3 && second.cursor == nil)
        #expect(try page(DeliveryFilter(), 1, nil, 50).deliveries.count == 3)
        #expect(try page(DeliveryFilter(text: "100%"), nil, nil, 50).deliveries.map(\.key) == [metadata.key])
        #expect(try page(DeliveryFilter(text: "1__%"), nil, nil, 50).deliveries.isEmpty)
        #expect(try page(DeliveryFilter(item: "b3"), nil, nil, 50).deliveries.map(\.subject.item) == ["b3"])
        #expect(throws: StoreError.self) { try page(DeliveryFilter(), nil, "junk", 5) }
    }

    @Test func theFirstAndTheLastTenAttemptsAreKept() throws {
        let event = maker.score(1)
        try store.accept(event)
        for _ in 0..<30 {
            let claim = try #require(try store.claim().first)
            try store.settle(claim, .retry(dueMilliseconds: 0, isServerError: true))
        }
        let record = try store.run { (outbox) throws(StoreError) in try outbox.show(key: event.key, visibleTo: 1000) }
        #expect(record?.deliveries.first?.attempts.map(\.number) == Array(1...10) + Array(21...30))
        let foreign = try store.run { (outbox) throws(StoreError) in try outbox.show(key: event.key, visibleTo: 1) }
        #expect(foreign == nil)
    }

    @Test func whatIsDeadStaysUntilSomebodyActs() throws {
        let event = maker.score(1)
        try store.accept(event)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .dead(.rejected, message: "no"))
        store.clock.advance(milliseconds: 366 * 86_400_000)
        let now = store.now
        #expect(try store.run { (outbox) throws(StoreError) in try outbox.maintain(now: now) } == false)
        #expect(try store.state(event) == .dead)
    }

    @Test func whatIsDeliveredLeavesAfterItsTimeWithWhatItReplaced() throws {
        let (low, high, waiting) = (maker.score(1), maker.score(2), maker.score(1, board: "other"))
        try store.accept(low)
        try store.accept(high)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .delivered(Confirmation(), notice: nil))
        try store.accept(waiting)
        store.clock.advance(milliseconds: 31 * 86_400_000)
        let now = store.now
        #expect(try store.run { (outbox) throws(StoreError) in try outbox.maintain(now: now) } == false)
        #expect(try store.all().map(\.key) == [waiting.key])
        let standings = try store.run { (outbox) throws(StoreError) in
            try outbox.standings(StandingQuery(item: "b")).standings
        }
        #expect(standings.first?.confirmed?.measure == .value(ScoreValue(units: 2)))
    }

    /// Rising scores make a chain in which each is replaced by the next; falling ones are all replaced by the first.
    @Test(arguments: [1...3_000, (-3_000)...(-1)])
    func whatReplacedThousandsLeavesInSteps(values: ClosedRange<Int64>) throws {
        let maker = maker
        try store.run { (outbox) throws(StoreError) in
            for value in values {
                _ = try outbox.accept(maker.score(abs(value)), fanOut: [way()])
            }
        }
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .delivered(Confirmation(), notice: nil))
        store.clock.advance(milliseconds: 31 * 86_400_000)
        let now = store.now
        var steps = 0
        while try store.run({ (outbox) throws(StoreError) in try outbox.maintain(now: now) }) { steps += 1 }
        #expect((3...40).contains(steps))
        #expect(try store.all().isEmpty)
        #expect(try store.run { (outbox) throws(StoreError) in try outbox.status() }.endpoints[0].counts.isEmpty)
    }
}

@Suite struct NoticeTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    let facts = NoticeFacts(kind: .score, item: "b", value: ScoreValue(units: 1), rank: 2)

    func deliver(_ endpoint: String) throws -> SettleResult {
        let claim = try #require(try store.claim(endpoint: endpoint).first)
        return try store.settle(claim, .delivered(Confirmation(), notice: .news(facts)), .delivered)
    }

    func claimNotices(_ route: String) throws -> [Int64] {
        let now = store.now
        return try store.run { (outbox) throws(StoreError) in
            try outbox.claimNotices(route: route, uid: 1000, limit: 10, now: now).map(\.number)
        }
    }

    @Test func theLastConfirmingDeliveryMakesTheNotice() throws {
        let others = [way("three", confirms: false), way("four", confirms: false)]
        try store.accept(maker.score(1), way("one"), way("two"), others[0], others[1])
        #expect(try deliver("one").notice == nil)
        #expect(try deliver("three").notice == nil)
        let notice = try #require(try deliver("two").notice)
        #expect(notice.facts == facts)
        #expect(try deliver("four").notice == nil)
        let counters = try store.run { (outbox) throws(StoreError) in try outbox.status() }
        #expect(counters.pendingNotices == 1)
    }

    @Test func aNoticeIsShownByOneRouteOnly() throws {
        try store.accept(maker.score(1))
        let notice = try #require(try deliver("home").notice)
        #expect(try claimNotices("game") == [notice.number])
        #expect(try claimNotices("desktop") == [])
        // What a route does not acknowledge goes to the next.
        store.clock.advance(milliseconds: 60_000)
        #expect(try claimNotices("desktop") == [notice.number])
        let now = store.now
        let count = try store.run { (outbox) throws(StoreError) in
            try outbox.acknowledgeNotices([notice.number], route: "desktop", uid: 1000, now: now)
        }
        #expect(count == 1)
        store.clock.advance(milliseconds: 600_000)
        #expect(try claimNotices("game") == [])
        #expect(try claimNotices("desktop") == [])
    }

    @Test func aNoticeIsAcknowledgedByItsOwnUserOnly() throws {
        try store.accept(maker.score(1))
        let notice = try #require(try deliver("home").notice)
        let now = store.now
        let count = try store.run { (outbox) throws(StoreError) in
            try outbox.acknowledgeNotices([notice.number], route: "game", uid: 1001, now: now)
        }
        #expect(count == 0)
        #expect(try claimNotices("game") == [notice.number])
    }

    @Test func noticesThatNobodyComesForDoNotFillTheDisk() throws {
        let count = Int64(Outbox.pendingNoticesPerUser) + 250
        try store.run { (outbox) throws(StoreError) in
            try outbox.database.run(
                .once(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                    INSERT INTO notices(number, key, game, player, uid, kind, item, hash, created)
                    SELECT i, randomblob(16), 'g', 'p', 1000 + (i <= 10), 0, 'b', 0, i FROM n
                    """
                ), SQLValue(count + 10))
            outbox.counters.add(count + 10, to: .pendingNotices)
        }
        let now = store.now
        while try store.run({ (outbox) throws(StoreError) in try outbox.maintain(now: now) }) {}
        let counters = try store.run { (outbox) throws(StoreError) in try outbox.status() }
        #expect(counters.pendingNotices == Outbox.pendingNoticesPerUser + 10)
        #expect(try claimNotices("game").first == 10 + 250 + 1, "the oldest go")
        #expect(try store.store.withOutbox { outbox in try outbox.contradictions() } == [])
    }

    @Test func anUnacknowledgedNoticeIsThereAfterARestart() throws {
        try store.accept(maker.score(1))
        let notice = try #require(try deliver("home").notice)
        _ = try claimNotices("game")
        store.close()
        let again = try TemporaryStore(folder: store.folder, clock: store.clock)
        let now = again.now
        let numbers = try again.run { (outbox) throws(StoreError) in
            try outbox.claimNotices(route: "game", uid: 1000, limit: 10, now: now).map(\.number)
        }
        #expect(numbers == [notice.number])
    }
}
