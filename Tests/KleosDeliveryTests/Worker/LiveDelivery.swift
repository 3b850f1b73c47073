import Dispatch
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Synchronization

/// A value that grows on other queues, and that a test waits for.
final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiting: [DispatchSemaphore] = []
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    func change(_ body: @Sendable (inout Value) -> Void) {
        let waiting = state.withLock { state in
            body(&state.value)
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    /// Waits until the value satisfies `condition`; false where it never does.
    func wait(until condition: @Sendable (Value) -> Bool) -> Bool {
        let changed = DispatchSemaphore(value: 0)
        state.withLock { $0.waiting.append(changed) }
        let deadline = Patience.end
        while !condition(value) {
            if changed.wait(timeout: deadline) == .timedOut { return condition(value) }
        }
        return true
    }
}

/// A worker over a real store with the machine's own clocks.
final class LiveDelivery: Sendable {
    /// What can be seen of the deliveries and endpoints.
    struct Seen: Sendable {
        var states: [String: DeliveryState] = [:]
        /// How many attempts of each came to an end.
        var settled: [String: Int] = [:]
        var notices: [Notice] = []
        var conditions: [EndpointCondition] = []

        func count(_ state: DeliveryState, endpoint: String = "home") -> Int {
            states.count { $0.value == state && $0.key.hasSuffix(" \(endpoint)") }
        }
    }

    let seen = Watched(Seen())
    let logLines = Watched<[String]>([])
    let clock = SystemClock()
    let folder: TemporaryFolder
    let store: Store
    let worker: DeliveryWorker
    private let random = Mutex(SeededGenerator.unpredictable())

    static let game = Game(
        id: "minesweeper", endpoints: ["home"],
        leaderboards: [
            Leaderboard(id: "beginner", order: .ascending, keep: .best), Leaderboard(id: "every", keep: .every),
        ],
        achievements: [Achievement(id: "flags")])

    /// Opens the store in `folder` and starts a worker with `endpoints`.
    convenience init(
        _ endpoints: Endpoint..., folder: TemporaryFolder? = nil,
        transport: any Transport = CurlTransport(userAgent: "kleos-tests")
    ) throws {
        try self.init(endpoints, folder: folder, transport: transport)
    }

    /// Opens the store in `folder` and starts a worker with `endpoints`.
    init(
        _ endpoints: [Endpoint], folder: TemporaryFolder? = nil,
        transport: any Transport = CurlTransport(userAgent: "kleos-tests")
    ) throws {
        let logLines = logLines
        let log = Log(threshold: .debug) { _, line in logLines.change { $0.append(line) } }
        self.folder = try folder ?? TemporaryFolder()
        store = try Store.open(
            directory: self.folder.path, options: StoreOptions(freeFloorBytes: 0, reserveBytes: 0, machineID: "m"),
            clock: clock, log: log)
        let worker = DeliveryWorker(
            store: store, transport: transport, clock: clock, random: .unpredictable(), log: log)
        self.worker = worker
        let seen = seen
        store.setChangeHandler { changes in
            seen.change { seen in
                for change in changes.deliveries {
                    let id = "\(change.key) \(change.endpoint)"
                    seen.states[id] = change.to
                    if change.from == .sending { seen.settled[id, default: 0] += 1 }
                }
                seen.notices += changes.notices
            }
            if !changes.readyEndpoints.isEmpty { worker.async { $0.deliveriesReady(changes.readyEndpoints) } }
        }
        worker.sync { $0.setConditionHandler { condition in seen.change { $0.conditions.append(condition) } } }
        configure(endpoints)
    }

    func configure(_ endpoints: [Endpoint]) {
        let done = DispatchSemaphore(value: 0)
        let byName = Dictionary(uniqueKeysWithValues: endpoints.map { ($0.name, $0) })
        worker.async { $0.configure(endpoints: byName, games: [Self.game.id: Self.game]) { done.signal() } }
        done.wait()
    }

    /// Stops the worker and closes the store, as a daemon does.
    func stop() {
        let done = DispatchSemaphore(value: 0)
        worker.async { $0.stop { done.signal() } }
        done.wait()
        store.close { done.signal() }
        done.wait()
    }

    func run<T: Sendable>(_ work: @escaping @Sendable (Outbox) throws(StoreError) -> T) throws -> T {
        let result = Mutex<Result<T, StoreError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        store.perform(work) { outcome in
            result.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        guard let outcome = result.withLock({ $0 }) else { preconditionFailure("signalled without a result") }
        return try outcome.get()
    }

    /// Submits a score of `player`; `ageMilliseconds` makes it older than it is.
    @discardableResult
    func submit(
        _ value: Int64, player: String, board: String = "every", to endpoints: [String] = ["home"],
        ageMilliseconds: Int64 = 0
    ) throws -> EventKey {
        try submit(
            .score(leaderboard: board, value: ScoreValue(units: value)), player: player, to: endpoints,
            ageMilliseconds: ageMilliseconds)
    }

    @discardableResult
    func submit(
        _ subject: Subject, player: String, to endpoints: [String] = ["home"], ageMilliseconds: Int64 = 0
    ) throws -> EventKey {
        var now = clock.read()
        now.wallMilliseconds -= ageMilliseconds
        now.bootMilliseconds -= ageMilliseconds
        let key = random.withLock { EventKey.version7(wallMilliseconds: now.wallMilliseconds, random: &$0) }
        let event = Event(
            key: key, clientID: nil, game: Self.game.id, player: player, subject: subject,
            occurredAtMilliseconds: nil, metadata: nil, recorded: now, submitter: Submitter(uid: 1_000, pid: 1))
        let merge: MergeRule = subject.item == "beginner" ? .best(.ascending) : .none
        let ways = endpoints.map {
            FanOut(endpoint: $0, merge: merge, isStrict: false, priority: .score, confirms: $0 == endpoints[0])
        }
        _ = try run { outbox throws(StoreError) in try outbox.accept(event, fanOut: ways) }
        return key
    }

    func wait(until condition: @Sendable (Seen) -> Bool) -> Bool { seen.wait(until: condition) }

    /// The only delivery of `key`, with its attempts.
    func delivery(_ key: EventKey) throws -> EventRecord.Delivery? {
        try run { outbox throws(StoreError) in try outbox.show(key: key, visibleTo: nil) }?.deliveries.first
    }

    /// What has not come to its end, and how the endpoints are; for the message of a failed expectation.
    func leftovers() -> String {
        let now = clock.read().wallMilliseconds
        let filter = DeliveryFilter(states: [.waiting, .ready, .sending, .held, .dead])
        let page = try? run { outbox throws(StoreError) in
            try outbox.list(filter, visibleTo: nil, cursor: nil, limit: 10)
        }
        let lines = (page?.deliveries ?? []).map { record in
            let due = record.dueMilliseconds.map { "due in \($0 - now) ms" } ?? "not due"
            return "\(record.player) to \(record.endpoint): \(record.state), \(record.attempts) attempts, \(due)"
        }
        return (lines + conditions().map { "\($0)" }).joined(separator: "\n")
    }

    func conditions() -> [EndpointCondition] { worker.sync { $0.conditions() } }

    func pause(_ endpoint: String) {
        let done = DispatchSemaphore(value: 0)
        worker.async { $0.pause(endpoint, reason: "operator: maintenance") { _ in done.signal() } }
        done.wait()
    }

    func resume(_ endpoint: String) {
        let done = DispatchSemaphore(value: 0)
        worker.async { $0.resume(endpoint) { _ in done.signal() } }
        done.wait()
    }
}

/// An endpoint that is tried again within milliseconds.
func quick(
    _ url: String, name: String = "home", _ change: (inout Endpoint) -> Void = { _ in }
) -> Endpoint {
    var endpoint = Endpoint(
        name: name, url: url, retry: RetryPolicy(baseMilliseconds: 5, capMilliseconds: 40, floorMilliseconds: 1))
    change(&endpoint)
    return endpoint
}
