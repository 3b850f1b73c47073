import Dispatch
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// Fails the first request, confirms the others, and keeps what it was sent.
private final class ForgetfulTransport: Transport {
    private let bodies = Mutex<[[UInt8]]>([])
    private let end = EndHandler()
    private let afterFirst: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `afterFirst` is called with the first request; its argument ends that request.
    init(afterFirst: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.afterFirst = afterFirst }

    var sent: [[UInt8]] { bodies.withLock { $0 } }

    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) { end.set(handler) }

    func send(_ requests: [TransportRequest]) {
        for request in requests {
            let count = bodies.withLock { bodies in
                bodies.append(request.body)
                return bodies.count
            }
            if count > 1 { end(request, answer(200, accepted)) }
            if count == 1 { afterFirst { [end] in end(request, failure(.timeout, didSend: true)) } }
        }
    }

    func cancelAll() {}
    func dropConnections() {}
}

@Suite(.timeLimit(.minutes(30))) struct RenderingTests {
    @Test func underOneKeyTheBytesStayTheSameWhateverTheConfigurationBecomes() throws {
        let first = Mutex<(@Sendable () -> Void)?>(nil)
        let arrived = DispatchSemaphore(value: 0)
        let transport = ForgetfulTransport { end in
            first.withLock { $0 = end }
            arrived.signal()
        }
        let endpoint = quick("https://x.example") { $0.resend = .keyed }
        let delivery = try LiveDelivery(endpoint, transport: transport)
        let key = try delivery.submit(7, player: "mira")
        try #require(arrived.wait(timeout: Patience.end) == .success)
        // What the game's file says of the board is in the request.
        let board = Leaderboard(id: "every", order: .ascending, keep: .every)
        let changed = Game(id: LiveDelivery.game.id, endpoints: ["home"], leaderboards: [board])
        let configured = DispatchSemaphore(value: 0)
        delivery.worker.async { worker in
            worker.configure(endpoints: ["home": endpoint], games: [changed.id: changed]) { configured.signal() }
        }
        try #require(configured.wait(timeout: Patience.end) == .success)
        first.withLock { $0 }?()
        #expect(delivery.wait { $0.count(.delivered) == 1 }, "\(delivery.leftovers())")
        #expect(try delivery.delivery(key)?.record.attempts == 2)
        let sent = transport.sent
        #expect(sent.count == 2)
        #expect(sent.first == sent.last)
        delivery.stop()
    }
}
