import Dispatch
import Synchronization

/// The transport over libcurl: one thread runs every transfer.
///
/// Requests are handed to the thread through a list and a wake-up; completions are called on that thread and must be
/// quick. The thread lives as long as the process: a daemon has one transport.
package final class CurlTransport: Transport {
    /// A request on its way to the thread.
    struct Order: Sendable {
        var request: TransportRequest
        var completion: @Sendable (TransportResult) -> Void
    }

    /// What the thread has to do.
    struct Inbox: Sendable {
        var orders: [Order] = []
        var cancelsAll = false
        var dropsConnections = false
        /// Called when the rest is done.
        var checks: [@Sendable () -> Void] = []
    }

    private let inbox = Mutex(Inbox())
    private let waker: CurlMulti.Waker

    /// Starts the thread. `userAgent` is sent with each request.
    package init(userAgent: String) {
        let waker = CurlMulti.Waker()
        self.waker = waker
        // A queue of its own gives the loop a thread of its own; the loop never ends. Without a quality it would take
        // the main thread's, which is more than an ordinary user may have.
        DispatchQueue(label: "kleos.curl", qos: .default).async { [self] in
            CurlMulti(waker: waker, userAgent: userAgent).run { self.take() }
        }
    }

    private func take() -> Inbox {
        inbox.withLock { inbox in
            defer { inbox = Inbox() }
            return inbox
        }
    }

    package func send(_ request: TransportRequest, completion: @escaping @Sendable (TransportResult) -> Void) {
        inbox.withLock { $0.orders.append(Order(request: request, completion: completion)) }
        waker.wake()
    }

    package func cancelAll() {
        inbox.withLock { $0.cancelsAll = true }
        waker.wake()
    }

    package func check(_ completion: @escaping @Sendable () -> Void) {
        inbox.withLock { $0.checks.append(completion) }
        waker.wake()
    }

    package func dropConnections() {
        inbox.withLock { $0.dropsConnections = true }
        waker.wake()
    }
}
