import Dispatch
import KleosDaemon
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// Confirms whatever it is given, and counts it.
private final class AgreeableTransport: Transport {
    private let count = Mutex(0)
    private let endHandler = Mutex<(@Sendable ([TransportEnd]) -> Void)?>(nil)

    var sent: Int { count.withLock { $0 } }

    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) {
        endHandler.withLock { $0 = handler }
    }

    func send(_ requests: [TransportRequest]) {
        count.withLock { $0 += requests.count }
        let answer = TransportAnswer(status: 200, body: Array(#"{"accepted": true}"#.utf8))
        let result = TransportResult(answer: .success(answer), didSendRequest: true, durationMilliseconds: 1)
        endHandler.withLock { $0 }?(requests.map { TransportEnd(number: $0.number, result) })
    }

    func cancelAll() {}
    func dropConnections() {}
}

@Suite(.timeLimit(.minutes(30))) struct EngineTests {
    let temporary: TemporaryStore
    let engine: Engine
    fileprivate let transport = AgreeableTransport()

    init() throws {
        temporary = try TemporaryStore()
        let log = Log(threshold: .error) { _, _ in }
        let worker = DeliveryWorker(
            store: temporary.store, transport: transport, clock: temporary.clock, random: SeededGenerator(seed: 1),
            log: log)
        engine = Engine(store: temporary.store, worker: worker, clock: temporary.clock, log: log)
    }

    private func accept(_ count: Int, game: String) throws {
        let now = temporary.clock.read()
        try temporary.run { outbox throws(StoreError) in
            let way = FanOut(endpoint: "home", merge: .none, isStrict: false, priority: .score, confirms: true)
            for number in 0..<count {
                let event = Event(
                    key: EventKey(high: 0x7000, low: 0x8000_0000_0000_0000 + UInt64(number)), clientID: nil, game: game,
                    player: "p\(number)", subject: .score(leaderboard: "b", value: ScoreValue(units: 1)),
                    occurredAtMilliseconds: nil, metadata: nil, recorded: now, submitter: Submitter(uid: 1_000, pid: 1))
                _ = try outbox.accept(event, fanOut: [way])
            }
        }
    }

    private func start(_ setup: Engine.Setup) throws {
        let started = DispatchSemaphore(value: 0)
        engine.wire { _ in }
        engine.start(setup) { result in
            if case .failure(let error) = result { Issue.record(error) }
            started.signal()
        }
        try #require(started.wait(timeout: Patience.end) == .success)
    }

    private func stop() throws {
        let stopped = DispatchSemaphore(value: 0)
        engine.worker.async { $0.stop { stopped.signal() } }
        try #require(stopped.wait(timeout: Patience.end) == .success)
        temporary.close()
    }

    private func counts() throws -> [DeliveryState: Int] {
        try temporary.run { outbox throws(StoreError) in try outbox.status() }.endpoints.first?.counts ?? [:]
    }

    /// More than the queue is brought in line with in one step, so that there is time for a worker that came too early.
    @Test func whatLeftTheConfigurationIsHeldBeforeAnybodyCanSendIt() throws {
        try accept(5_000, game: "gone")
        try start(Engine.Setup(games: [:], endpoints: ["home": Endpoint(name: "home", url: "https://x.example")]))
        #expect(try counts() == [.held: 5_000])
        #expect(transport.sent == 0)
        try stop()
    }

    @Test func whatMayHaveCountedIsNotSentAgainAtTheNextStart() throws {
        try accept(3, game: "g")
        let now = temporary.clock.nowMilliseconds
        let claimed = try temporary.run { outbox throws(StoreError) in
            try outbox.claim(endpoint: "home", limit: 10, nowMilliseconds: now)
        }
        #expect(claimed.count == 3)
        var endpoint = Endpoint(name: "home", url: "https://x.example")
        endpoint.resend = .accumulates
        let game = Game(id: "g", endpoints: ["home"], leaderboards: [Leaderboard(id: "b", keep: .sum)])
        try start(Engine.Setup(games: ["g": game], endpoints: ["home": endpoint]))
        #expect(try counts() == [.dead: 3])
        #expect(transport.sent == 0)
        try stop()
    }
}
