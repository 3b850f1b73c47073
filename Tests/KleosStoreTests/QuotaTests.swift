import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// What one user may take of the room.
@Suite struct QuotaTests {
    private static func options(perUser: Int64 = .max) -> StoreOptions {
        StoreOptions(maximumBytesPerUser: perUser, freeFloorBytes: 0, reserveBytes: 0, machineID: "m")
    }

    private func usedBytes(_ store: TemporaryStore, of uid: UInt32 = 1_000) throws -> Int64 {
        try store.run { (outbox) throws(StoreError) in try outbox.usedBytes(of: uid) }
    }

    @Test func oneUsersFullShareIsNotAnothers() throws {
        let store = try TemporaryStore(options: Self.options(perUser: 100_000))
        let maker = EventMaker(store.clock)
        var accepted: Int64 = 0
        var refusal: String?
        while refusal == nil, accepted < 1_000 {
            let event = maker.event(
                .score(leaderboard: "b", value: ScoreValue(units: accepted)), clientID: "id-\(accepted)",
                metadata: [UInt8](repeating: 0x20, count: 1_000))
            switch try store.accept(event, way(merge: .none)) {
            case .queueFull(let message): refusal = message
            default: accepted += 1
            }
        }
        #expect((20...100).contains(accepted))
        #expect(try #require(refusal).contains("100000 bytes that MaximumSharePerUser="))
        #expect(try store.accept(maker.score(1, uid: 1_001)).isAccepted)
        // What was taken before is still answered as what it is.
        let again = maker.event(
            .score(leaderboard: "b", value: ScoreValue(units: 0)), clientID: "id-0",
            metadata: [UInt8](repeating: 0x20, count: 1_000))
        guard case .duplicate = try store.accept(again, way(merge: .none)) else {
            Issue.record("a repeated event was not recognized")
            return
        }
        // What was delivered is owed to nobody, and makes room at once.
        for _ in 0..<accepted {
            let claim = try #require(try store.claim(1).first)
            try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
        }
        #expect(try store.accept(maker.score(2)).isAccepted)
        let claim = try #require(try store.claim(1).first)
        try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
        store.clock.advance(milliseconds: 31 * 86_400_000)
        let now = store.now
        while try store.run({ (outbox) throws(StoreError) in try outbox.maintain(now: now) }) {}
        #expect(try usedBytes(store) == 0)
    }

    /// Receipts make room, those of the user with most first; what is owed does not.
    @Test func atTheLimitReceiptsGoAndNewEventsAreTaken() throws {
        var options = Self.options()
        options.maximumBytes = 600_000
        let store = try TemporaryStore(options: options)
        let maker = EventMaker(store.clock)
        func add(_ number: Int, isDelivered: Bool) throws -> AcceptResult {
            let event = maker.event(
                .score(leaderboard: "b", value: ScoreValue(units: Int64(number))), clientID: "id-\(number)",
                metadata: [UInt8](repeating: 0x20, count: 500))
            let result = try store.accept(event, way(merge: .none))
            for claim in isDelivered ? try store.claim(4) : [] {
                try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
            }
            return result
        }
        for number in 0..<1_500 { #expect(try add(number, isDelivered: true).isAccepted) }
        let removed = try store.run { (outbox) throws(StoreError) in try outbox.status() }.removedReceipts
        #expect(removed > 300)
        // Its receipt is gone, and its id is known.
        guard case .duplicate = try add(0, isDelivered: false) else {
            Issue.record("an id was forgotten with its receipt")
            return
        }
        var number = 2_000
        while try add(number, isDelivered: false).isAccepted, number < 5_000 { number += 1 }
        #expect(number < 5_000, "what is owed is never given up, so that there is an end")
        #expect(try store.all(DeliveryFilter(states: [.ready])).count == number - 2_000)
        #expect(try store.store.withOutbox { outbox in try outbox.contradictions() } == [])
    }

    /// Nothing goes on the word of a clock that no time source disciplined.
    @Test func aClockAheadRemovesNothing() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        let event = maker.score(1, clientID: "once")
        try store.accept(event, way(merge: .none))
        try store.settle(try #require(try store.claim().first), .delivered(Confirmation(), notice: nil), .delivered)
        store.clock.advance(milliseconds: 60 * 86_400_000)
        var ahead = store.now
        ahead.isSynchronized = false
        let wrong = ahead
        while try store.run({ (outbox) throws(StoreError) in try outbox.maintain(now: wrong) }) {}
        #expect(try store.state(event) == .delivered)
        guard case .duplicate = try store.accept(maker.score(1, clientID: "once"), way(merge: .none)) else {
            Issue.record("an id was forgotten")
            return
        }
    }

    @Test func aRefusedEventTakesNothing() throws {
        let store = try TemporaryStore(options: Self.options(perUser: 1))
        let maker = EventMaker(store.clock)
        #expect(try store.accept(maker.score(1)).isAccepted)
        let used = try usedBytes(store)
        #expect(!(try store.accept(maker.score(2)).isAccepted))
        #expect(try usedBytes(store) == used)
        #expect(try store.all().count == 1)
    }

    /// Whatever happens to events, the counters are what a count of everything would give.
    @Test(arguments: UInt64(0)..<6)
    func countersAreWhatACountGives(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TemporaryStore(options: Self.options())
        let maker = EventMaker(store.clock)
        for step in 0..<120 {
            let uid = UInt32.random(in: 1_000...1_002, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0...2:
                let event = maker.event(
                    .score(leaderboard: "b", value: ScoreValue(units: .random(in: 0...50, using: &random))),
                    player: Bool.random(using: &random) ? "p" : "Zoë", clientID: "id-\(step)", uid: uid,
                    metadata: Bool.random(using: &random) ? Array("{\"é\":1}".utf8) : nil)
                let merge: MergeRule = Bool.random(using: &random) ? .none : .best(.descending)
                try store.accept(event, way(merge: merge), way("other", merge: merge))
            case 3, 4:
                for claim in try store.claim(2) {
                    let isGood = Bool.random(using: &random)
                    try store.settle(
                        claim,
                        isGood
                            ? .delivered(Confirmation(), notice: nil) : .dead(.rejected, message: "no"))
                }
            default:
                store.clock.advance(milliseconds: 20 * 86_400_000)
                let now = store.now
                _ = try store.run { (outbox) throws(StoreError) in try outbox.maintain(now: now) }
            }
        }
        #expect(try store.store.withOutbox { outbox in try outbox.contradictions() } == [])
        #expect(try usedBytes(store, of: 1_000) + usedBytes(store, of: 1_001) + usedBytes(store, of: 1_002) > 0)
    }

    /// The reckoning stays above what the file takes, and not by far: else a share would be none.
    @Test(arguments: [(0, MergeRule.none), (0, .best(.descending)), (1_000, .none), (4_000, .none)])
    func theReckoningIsCloseToTheFile(metadataBytes: Int, merge: MergeRule) throws {
        let store = try TemporaryStore(options: Self.options())
        let maker = EventMaker(store.clock)
        func fileBytes() throws -> Int64 {
            try store.run { (outbox) throws(StoreError) in try outbox.storage().usedBytes }
        }
        let empty = try fileBytes()
        let events = (0..<2_000).map { number in
            maker.event(
                .score(leaderboard: "b", value: ScoreValue(units: Int64(number))), player: "player-\(number % 100)",
                clientID: "0193764f-2f4b-7c5a-8a6e-\(number)", metadata: [UInt8](repeating: 0x20, count: metadataBytes))
        }
        try store.run { (outbox) throws(StoreError) in
            for event in events { _ = try outbox.accept(event, fanOut: [way(merge: merge)]) }
        }
        let grown = try fileBytes() - empty
        let reckoned = try usedBytes(store)
        let isClose = reckoned >= grown && 2 * reckoned <= 5 * grown
        #expect(isClose, "\(reckoned / 2_000) for \(grown / 2_000) bytes an event")
    }
}

extension AcceptResult {
    fileprivate var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }
}
