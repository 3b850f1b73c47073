import CSimulatedDisk
import KleosModel
import KleosSupport
import KleosTestSupport
import Synchronization

@testable import KleosStore

/// One outbox that lives through many power cuts, and what its clients were told.
struct PowerCutWorld {
    /// What a run came to.
    struct Figures {
        var acknowledged = 0
        var transactions = 0
        /// Transactions that nobody was told about and that were there nevertheless.
        var unansweredKept = 0
        /// How often the whole outbox was found word by word as it was answered.
        var compared = 0
        var crashes = 0
        var interruptedStarts = 0
    }

    private static let retentionMilliseconds: Int64 = 120_000

    let synchronous: String?
    private let folder: TemporaryFolder
    private let disk: SimulatedDisk
    private let clock = ManualClock()
    private let maker: EventMaker
    private var random: SeededGenerator
    private var store: FragileStore?
    private(set) var figures = Figures()
    /// What was found that must not be.
    private(set) var problems: [String] = []

    /// The outbox after the latest answer; nil before the first.
    private var answered: String?
    /// The outbox as a transaction that was not answered leaves it.
    private var unanswered: String?
    /// Events that a client was told are recorded.
    private var ledger: [EventKey: Event] = [:]
    /// Deliveries that the worker was told are settled as delivered.
    private var delivered: Set<DeliveryID> = []
    private var claims: [Claim] = []
    /// Whether a transaction was not answered.
    private var isUnanswered = false
    private var areAllCompared = true
    /// The number of the operation at which the disk stops.
    private var stop: Int64 = 0
    /// Whether what was delivered long ago may be gone although nobody was told.
    private var isMaintaining = false

    var counts: sim_disk_counts { disk.counts }

    init(seed: UInt64, synchronous: String? = nil) throws(SystemError) {
        self.synchronous = synchronous
        folder = try TemporaryFolder(prefix: "kleos-cut")
        disk = SimulatedDisk(seed: seed)
        maker = EventMaker(clock)
        random = SeededGenerator(seed: seed ^ 0x70_6F77_6572)
    }

    /// Works until the power goes, starts again, and looks at what is left.
    mutating func liveUntilCut() {
        start()
        guard store != nil else { return }
        let left = Int.random(in: 0..<250, using: &random)
        disk.stop(afterOperations: left)
        stop = operations + Int64(left)
        areAllCompared = false
        if chance(1, 8) {
            disk.fail(.sync, after: Int.random(in: 0..<12, using: &random))
            areAllCompared = true
        }
        if chance(1, 8) { disk.setCapacity(bytes: Int64.random(in: 50_000...600_000, using: &random)) }
        let actions = Int.random(in: 1...60, using: &random)
        for number in 1...actions where store?.hasFailed == false {
            if number == actions { areAllCompared = true }
            act()
        }
        areAllCompared = true
        end()
    }

    /// Starts for the last time and looks.
    mutating func finish() {
        start()
        store?.close()
        store = nil
    }

    private mutating func chance(_ part: Int, _ whole: Int) -> Bool { Int.random(in: 0..<whole, using: &random) < part }
}

// Power and processes.
extension PowerCutWorld {
    private func open() throws(StoreError) -> FragileStore {
        try FragileStore(
            folder: folder.path, disk: disk, clock: clock, retentionMilliseconds: Self.retentionMilliseconds,
            synchronous: synchronous)
    }

    private mutating func start() {
        // The power goes while the daemon starts, too.
        while chance(1, 4) {
            disk.stop(afterOperations: Int.random(in: 0..<45, using: &random))
            figures.interruptedStarts += 1
            // That it fails is the point; whether it did is not, since everything is looked at below.
            if let opened = try? open() { opened.close() }
            powerCut()
        }
        do throws(StoreError) {
            store = try open()
        } catch {
            problems.append("the database does not open: \(error)")
            return
        }
        check()
        let now = clock.read()
        transact { (outbox) throws(StoreError) in
            _ = try outbox.recover(atMostOnceEndpoints: ["strict"], now: now)
            return PowerCutAction.Done()
        }
    }

    private mutating func powerCut() {
        disk.cutPower()
        disk.fail(.sync, count: 0)
        disk.setCapacity(bytes: nil)
    }

    private mutating func end() {
        claims = []
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            // The process is killed, the machine goes on.
            figures.crashes += 1
            if !disk.isStopped { disk.stop(afterOperations: 0) }
            store?.close()
            disk.restart()
            disk.fail(.sync, count: 0)
            disk.setCapacity(bytes: nil)
        case 1, 2:
            store?.close()
            powerCut()
        default:
            powerCut()
            store?.close()
        }
        store = nil
        clock.advance(milliseconds: 1_000)
    }
}

// Work.
extension PowerCutWorld {
    private mutating func act() {
        clock.advance(milliseconds: 500)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: checkpoint(.passive)
        case 1: checkpoint(.truncate)
        case 2: maintain()
        case 3...6: transact(together: Int.random(in: 2...5, using: &random))
        default: transact(together: 1)
        }
    }

    private mutating func checkpoint(_ mode: Connection.CheckpointMode) {
        // The store treats a failure as the end; here the next COMMIT is made to fail for it.
        do throws(StoreError) {
            try store?.outbox { (outbox) throws(StoreError) in _ = try outbox.database.checkpoint(mode) }
        } catch  where error.kind == .full {
            return
        } catch {
            disk.stop(afterOperations: 0)
        }
    }

    private mutating func maintain() {
        isMaintaining = true
        let now = clock.read()
        let isAnswered = transact { (outbox) throws(StoreError) in
            _ = try outbox.maintain(now: now)
            return PowerCutAction.Done()
        }
        guard isAnswered, let store else { return }
        isMaintaining = false
        do throws(StoreError) {
            let found = try store.outbox { (outbox) throws(StoreError) in try Found(outbox) }
            forgetRemoved(found)
        } catch {
            // The disk stopped in between, and what was removed may be looked at after the cut only.
            isMaintaining = true
        }
    }

    /// Does so many random actions in one transaction, as a group commit does.
    private mutating func transact(together count: Int) {
        let actions = (0..<count).map { _ in PowerCutAction.allCases.randomElement(using: &random) ?? .accept }
        let events = actions.map { action in
            (0..<(action == .acceptMany ? 8 : Int.random(in: 1...2, using: &random))).map { _ in event() }
        }
        let (claims, now, seed) = (claims, clock.read(), random.next())
        // Claims are settled once; an action that did not get through leaves them to the next start.
        if actions.contains(where: \.usesClaims) { self.claims = [] }
        transact { (outbox) throws(StoreError) in
            var random = SeededGenerator(seed: seed)
            var done = PowerCutAction.Done()
            for (action, events) in zip(actions, events) {
                try action.perform(outbox, events: events, claims: claims, now: now, random: &random, done: &done)
            }
            return done
        }
    }

    private mutating func event() -> Event {
        if chance(1, 10), let old = ledger.values.filter({ $0.clientID != nil }).min(by: { $0.key < $1.key }) {
            return old
        }
        let board = ["best", "least", "latest", "every", "ordered"].randomElement(using: &random) ?? "best"
        let size = chance(1, 25) ? Int.random(in: 0...6_000, using: &random) : 0
        let value = Int64.random(in: 1...500, using: &random)
        return maker.event(
            .score(leaderboard: board, value: ScoreValue(units: value)),
            player: "p\(Int.random(in: 0..<3, using: &random))",
            clientID: chance(1, 2) ? "id-\(random.next())" : nil,
            metadata: size == 0 ? nil : Array("{\"x\":\"\(String(repeating: "y", count: size))\"}".utf8))
    }

    /// Runs `work` in a transaction and notes down what is answered. Returns whether it was.
    @discardableResult
    private mutating func transact(
        _ work: @escaping @Sendable (Outbox) throws(StoreError) -> PowerCutAction.Done
    ) -> Bool {
        guard let store else { return false }
        let after = After()
        let isCompared = isCompared
        let answer = store.run { (outbox) throws(StoreError) in
            let done = try work(outbox)
            let content = isCompared ? try OutboxContent.read(outbox.database) : nil
            after.content.withLock { $0 = content }
            return done
        }
        figures.transactions += 1
        switch answer {
        case .success(let done):
            answered = after.content.withLock { $0 }
            acknowledge(done)
            return true
        case .failure: return false
        case nil:
            unanswered = after.content.withLock { $0 }
            isUnanswered = true
            // It may be there whole, and nobody would know it again.
            if !isCompared { answered = nil }
            return false
        }
    }

    /// The outbox as it is at the end of a transaction, before its COMMIT.
    private final class After: Sendable {
        let content = Mutex<String?>(nil)
    }

    /// Whether the next transaction may be the last before a cut, so that it is compared word by word. To read the
    /// whole outbox each time would take most of the time.
    private var isCompared: Bool { areAllCompared || operations + 100 > stop }

    private var operations: Int64 {
        let counts = disk.counts
        return counts.writes + counts.syncs + counts.truncates + counts.deletes
    }

    private mutating func acknowledge(_ done: PowerCutAction.Done) {
        for event in done.events { ledger[event.key] = event }
        figures.acknowledged += done.events.count
        delivered.formUnion(done.delivered)
        claims += done.claims
    }
}

// What must be there.
extension PowerCutWorld {
    /// What an outbox holds, as far as clients were told of it.
    struct Found: Sendable {
        var content: String
        var events: [EventKey: Event]
        var states: [DeliveryID: DeliveryState]
        var problems: [String]

        init(_ outbox: Outbox) throws(StoreError) {
            let database = outbox.database
            content = try OutboxContent.read(database)
            events = [:]
            for row in try database.rows(
                .once("SELECT \(EventRow.table.list) FROM events e"), read: { EventRow.table.read($0) })
            {
                events[row.key] = try outbox.events.event(row)
            }
            states = [:]
            var rows = try database.rows(.once(Deliveries.selectQueue)) { outbox.deliveries.queued($0) }
            rows += try database.rows(.once(Deliveries.selectDone)) { outbox.deliveries.done($0) }
            for row in rows { states[row.id] = row.state }
            problems = try outbox.contradictions()
        }
    }

    private mutating func check() {
        guard let store else { return }
        do {
            let found = try store.outbox { (outbox) throws(StoreError) in try Found(outbox) }
            problems += found.problems
            compare(found)
            let names = try Folder.names(in: folder.path)
            problems += names.filter { $0.contains("damaged") }.map { "set aside: \($0)" }
        } catch {
            problems.append("the outbox cannot be read: \(error)")
        }
    }

    private mutating func compare(_ found: Found) {
        if isUnanswered, found.content == unanswered, unanswered != answered {
            figures.unansweredKept += 1
        } else if let answered {
            figures.compared += 1
            if found.content != answered {
                problems.append("the outbox is neither as it was answered nor as the transaction under way leaves it")
            }
        }
        if isMaintaining { forgetRemoved(found) }
        for (key, event) in ledger where found.events[key] != event {
            problems.append("acknowledged and \(found.events[key] == nil ? "lost" : "changed"): \(key)")
        }
        for id in delivered where found.states[id] != .delivered {
            problems.append("settled as delivered, and now \(found.states[id]?.rawValue ?? "gone"): \(id)")
        }
        isMaintaining = false
        answered = found.content
        unanswered = nil
        isUnanswered = false
        ledger = found.events
        delivered = Set(found.states.filter { $0.value == .delivered }.keys)
    }

    /// Retention removes what was recorded long ago and is not under way.
    private mutating func forgetRemoved(_ found: Found) {
        let cutoff = clock.nowMilliseconds - Self.retentionMilliseconds
        for (key, event) in ledger where found.events[key] == nil && event.recorded.wallMilliseconds < cutoff {
            ledger[key] = nil
        }
        delivered.formIntersection(found.states.keys)
    }
}
