import Dispatch
import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

@testable import KleosStore

/// Counts what goes out, and answers nothing.
private final class SilentTransport: Transport {
    private let count = Mutex(0)

    var sent: Int { count.withLock { $0 } }

    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) {}
    func send(_ requests: [TransportRequest]) { count.withLock { $0 += requests.count } }
    func cancelAll() {}
    func dropConnections() {}
}

@Suite(.timeLimit(.minutes(30))) struct ClaimTests {
    /// What goes out without being on disk as claimed would go out again after a crash.
    @Test func nothingIsSentBeforeItsClaimIsCommitted() throws {
        let temporary = try TemporaryStore(log: Log(threshold: .error) { _, _ in })
        let transport = SilentTransport()
        let worker = DeliveryWorker(
            store: temporary.store, transport: transport, clock: temporary.clock, random: SeededGenerator(seed: 1),
            log: Log(threshold: .error) { _, _ in })
        let configured = DispatchSemaphore(value: 0)
        let endpoint = Endpoint(name: "home", url: "https://x.example")
        worker.async { worker in
            worker.configure(endpoints: ["home": endpoint], games: ["g": testGame]) { configured.signal() }
        }
        try #require(configured.wait(timeout: Patience.end) == .success)
        // The claim that the configuration led to finds nothing.
        worker.sync { _ in }
        let event = EventMaker(temporary.clock).score(1)
        try temporary.run { outbox throws(StoreError) in
            let way = FanOut(endpoint: "home", merge: .none, isStrict: false, priority: .score, confirms: true)
            _ = try outbox.accept(event, fanOut: [way])
        }
        let failed = DispatchSemaphore(value: 0)
        temporary.store.setFailureHandler { _ in failed.signal() }
        _ = temporary.store.withOutbox { $0.commitFault = StoreError(.io, operation: "sync", message: "test") }
        worker.async { $0.deliveriesReady(["home"]) }
        try #require(failed.wait(timeout: Patience.end) == .success)
        worker.sync { _ in }
        #expect(transport.sent == 0)
        temporary.close()
    }
}
