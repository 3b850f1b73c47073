import Dispatch
import Synchronization

/// The transport over libcurl: one thread runs every transfer.
///
/// Requests are handed to the thread through a list and one wake-up for all that came since it looked; ends are told on
/// that thread, those of one turn together, and whoever hears of them must be quick. The thread lives as long as the
/// process: a daemon has one transport.
package final class CurlTransport: Transport {
    /// What the thread has to do.
    struct Inbox: Sendable {
        var requests: [TransportRequest] = []
        var cancelsAll = false
        var dropsConnections = false
        /// Called when the rest is done.
        var checks: [@Sendable () -> Void] = []
    }

    /// A closure that a mutex held by itself would be wrapped once more by each access.
    private struct Listener {
        var tell: (@Sendable ([TransportEnd]) -> Void)?
    }

    private let inbox = Mutex(Inbox())
    private let listener = Mutex(Listener())
    private let waker: CurlMulti.Waker

    /// Starts the thread. `userAgent` is sent with each request.
    ///
    /// A request that must go out once takes no connection that was idle for more than `idleMillisecondsForOnce`: servers
    /// end idle ones after two seconds and more, and one that ends while a request is on its way leaves nobody knowing
    /// whether it was read.
    package init(userAgent: String, idleMillisecondsForOnce: Int64 = 1_000) {
        let waker = CurlMulti.Waker()
        self.waker = waker
        // A queue of its own gives the loop a thread of its own; the loop never ends. Without a quality it would take
        // the main thread's, which is more than an ordinary user may have.
        DispatchQueue(label: "kleos.curl", qos: .default).async { [self] in
            CurlMulti(waker: waker, userAgent: userAgent, idleMillisecondsForOnce: idleMillisecondsForOnce)
                .run(take: { self.take() }, tell: { self.tell($0) })
        }
    }

    private func take() -> Inbox {
        inbox.withLock { inbox in
            defer { inbox = Inbox() }
            return inbox
        }
    }

    private func tell(_ ends: [TransportEnd]) {
        listener.withLock { $0 }.tell?(ends)
    }

    package func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) {
        listener.withLock { $0.tell = handler }
    }

    package func send(_ requests: [TransportRequest]) {
        guard !requests.isEmpty else { return }
        // Whoever filled an empty list wakes the thread, which takes all that came until then.
        let isFirst = inbox.withLock { inbox in
            defer { inbox.requests += requests }
            return inbox.requests.isEmpty
        }
        if isFirst { waker.wake() }
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
