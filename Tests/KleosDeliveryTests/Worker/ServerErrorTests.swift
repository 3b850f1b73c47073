import Dispatch
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// Answers 500 to everything about the player "bad", confirms the rest, and tells of each 500.
private final class TroubledTransport: Transport {
    private let onError: @Sendable () -> Void
    private let end = EndHandler()

    init(onError: @escaping @Sendable () -> Void) { self.onError = onError }

    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) { end.set(handler) }

    func send(_ requests: [TransportRequest]) {
        for request in requests {
            let isBad = String(decoding: request.body, as: UTF8.self).contains(#""player":"bad""#)
            end(request, isBad ? answer(500) : answer(200, accepted))
            if isBad { onError() }
        }
    }

    func cancelAll() {}
    func dropConnections() {}
}

@Suite(.timeLimit(.minutes(30))) struct ServerErrorTests {
    @Test func whatAlwaysFailsEndsWhileOthersAreConfirmed() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let maker = EventMaker(temporary.clock)
        let number = Mutex<Int64>(0)
        let died = DispatchSemaphore(value: 0)
        let submit: @Sendable (String) -> Event = { player in
            let value = number.withLock { number in
                number += 1
                return number
            }
            let event = maker.score(value, board: "all", player: player)
            let way = FanOut(endpoint: "home", merge: .none, isStrict: false, priority: .score, confirms: true)
            store.perform({ outbox throws(StoreError) in try outbox.accept(event, fanOut: [way]) }, then: { _ in })
            return event
        }
        // Each 500 is followed by an event that the endpoint confirms.
        let worker = DeliveryWorker(
            store: store, transport: TroubledTransport { _ = submit("good") }, clock: SystemClock(),
            random: SeededGenerator(seed: 1), log: Log(threshold: .error) { _, _ in })
        store.setChangeHandler { changes in
            if !changes.readyEndpoints.isEmpty { worker.async { $0.deliveriesReady(changes.readyEndpoints) } }
            if changes.deliveries.contains(where: { $0.to == .dead }) { died.signal() }
        }
        let endpoint = Endpoint(
            name: "home", url: "https://x.example",
            retry: RetryPolicy(baseMilliseconds: 5, capMilliseconds: 20, floorMilliseconds: 5),
            maximumAgeMilliseconds: nil, maximumServerErrors: 3)
        worker.async { $0.configure(endpoints: ["home": endpoint], games: ["g": testGame]) {} }
        let bad = submit("bad")
        try #require(died.wait(timeout: Patience.end) == .success)
        let stopped = DispatchSemaphore(value: 0)
        worker.async { $0.stop { stopped.signal() } }
        try #require(stopped.wait(timeout: Patience.end) == .success)
        let record = try temporary.run { outbox throws(StoreError) in try outbox.show(key: bad.key, visibleTo: nil) }
        let delivery = try #require(record?.deliveries.first)
        #expect(delivery.record.reason == .serverErrors)
        #expect(delivery.record.attempts >= 3)
        #expect(delivery.attempts.allSatisfy { $0.status == 500 })
        let counters = try temporary.run { outbox throws(StoreError) in try outbox.status() }
        #expect(counters.endpoints.first?.counts[.dead] == 1)
        temporary.close()
    }
}
