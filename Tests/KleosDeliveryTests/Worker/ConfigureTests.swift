import Dispatch
import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// Tells of what goes out, and answers nothing.
private final class AnnouncingTransport: Transport {
    let sent = DispatchSemaphore(value: 0)

    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) {}
    func send(_ requests: [TransportRequest]) { for _ in requests { sent.signal() } }
    func cancelAll() {}
    func dropConnections() {}
}

@Suite(.timeLimit(.minutes(30))) struct ConfigureTests {
    @Test func whatTheStoreCouldNotTellIsAskedAgain() throws {
        let quiet = Log(threshold: .error) { _, _ in }
        let temporary = try TemporaryStore(log: quiet)
        let transport = AnnouncingTransport()
        let worker = DeliveryWorker(
            store: temporary.store, transport: transport, clock: temporary.clock, random: SeededGenerator(seed: 1),
            log: quiet)
        let event = EventMaker(temporary.clock).score(1)
        try temporary.run { outbox throws(StoreError) in
            let way = FanOut(endpoint: "home", merge: .none, isStrict: false, priority: .score, confirms: true)
            _ = try outbox.accept(event, fanOut: [way])
            try outbox.database.execute("ALTER TABLE endpoints RENAME TO mislaid")
        }
        let configured = DispatchSemaphore(value: 0)
        let endpoint = Endpoint(name: "home", url: "https://x.example")
        worker.async { worker in
            worker.configure(endpoints: ["home": endpoint], games: ["g": testGame]) { configured.signal() }
        }
        try #require(configured.wait(timeout: Patience.end) == .success)
        #expect(transport.sent.wait(timeout: .now()) == .timedOut)
        try temporary.run { outbox throws(StoreError) in
            try outbox.database.execute("ALTER TABLE mislaid RENAME TO endpoints")
        }
        #expect(transport.sent.wait(timeout: Patience.end) == .success)
        temporary.close()
    }
}
