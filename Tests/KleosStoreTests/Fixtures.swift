import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Synchronization

/// Makes events for tests, each with a key of its own.
final class EventMaker: Sendable {
    let clock: ManualClock
    private let random = Mutex(SeededGenerator(seed: 1))

    init(_ clock: ManualClock) { self.clock = clock }

    func event(
        _ subject: Subject, game: String = "g", player: String = "p", clientID: String? = nil, uid: UInt32 = 1000,
        metadata: [UInt8]? = nil
    ) -> Event {
        let key = random.withLock { EventKey.version7(wallMilliseconds: clock.nowMilliseconds, random: &$0) }
        return Event(
            key: key, clientID: clientID, game: game, player: player, subject: subject, occurredAtMilliseconds: nil,
            metadata: metadata, recorded: clock.read(), submitter: Submitter(uid: uid, pid: 1))
    }

    func score(
        _ value: Int64, board: String = "b", player: String = "p", clientID: String? = nil, uid: UInt32 = 1000
    ) -> Event {
        event(
            .score(leaderboard: board, value: ScoreValue(units: value)), player: player, clientID: clientID, uid: uid)
    }
}

func way(
    _ endpoint: String = "home", merge: MergeRule = .best(.descending), isStrict: Bool = false, confirms: Bool = true
) -> FanOut {
    FanOut(endpoint: endpoint, merge: merge, isStrict: isStrict, priority: .score, confirms: confirms)
}

func attempt(_ outcome: Outcome, status: Int? = nil) -> Attempt {
    Attempt(number: 0, startedMilliseconds: 0, durationMilliseconds: 5, outcome: outcome, status: status)
}

extension TemporaryStore {
    /// A copy of the files as they are now, as after a kill.
    func snapshot() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for name in try Folder.names(in: folder.path) {
            try SmallFile.replace(copy.path(name), with: try SmallFile.read(at: folder.path(name), limitBytes: 1 << 28))
        }
        return copy
    }

    var now: ClockReading { clock.read() }

    @discardableResult
    func accept(_ event: Event, _ ways: FanOut...) throws -> AcceptResult {
        try run { (outbox) throws(StoreError) in try outbox.accept(event, fanOut: ways.isEmpty ? [way()] : ways) }
    }

    func claim(_ limit: Int = 10, endpoint: String = "home") throws -> [Claim] {
        let now = clock.nowMilliseconds
        return try run { (outbox) throws(StoreError) in
            try outbox.claim(endpoint: endpoint, limit: limit, nowMilliseconds: now)
        }
    }

    @discardableResult
    func settle(
        _ claim: Claim, _ settlement: Settlement, _ outcome: Outcome = .retry, mayHaveTakenEffect: Bool = false
    ) throws -> SettleResult {
        let now = clock.read()
        return try run { (outbox) throws(StoreError) in
            try outbox.settle(
                claim.id, attempt: attempt(outcome), settlement: settlement, mayHaveTakenEffect: mayHaveTakenEffect,
                now: now)
        }
    }

    /// The state of an event's only delivery, or of that to `endpoint`.
    func state(_ event: Event, endpoint: String? = nil) throws -> DeliveryState? {
        let record = try run { (outbox) throws(StoreError) in try outbox.show(key: event.key, visibleTo: nil) }
        return record?.deliveries.first { endpoint == nil || $0.record.endpoint == endpoint }?.record.state
    }

    func all(_ filter: DeliveryFilter = DeliveryFilter()) throws -> [DeliveryRecord] {
        var records: [DeliveryRecord] = []
        var cursor: String?
        repeat {
            let from = cursor
            let page = try run { (outbox) throws(StoreError) in
                try outbox.list(filter, visibleTo: nil, cursor: from, limit: 100)
            }
            records += page.deliveries
            cursor = page.cursor
        } while cursor != nil
        return records
    }
}
