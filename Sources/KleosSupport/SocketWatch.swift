/// A socket that a `SocketPoller` watches; begins with nothing to be told of, and ends when it is let go.
///
/// On the poller's queue, nothing is told any more once `suspend` or `cancel` has returned; from other threads, once
/// more at most. A handler is told again for as long as what it was told of lasts.
package final class SocketWatch: Sendable {
    private let poller: SocketPoller
    private let id: UInt64

    /// Watches a non-blocking socket, and keeps it open until `cancel`; `handler` is called on the poller's queue.
    /// Throws `SystemError`.
    package init(
        _ descriptor: FileDescriptor, on poller: SocketPoller, handler: @escaping @Sendable (Readiness) -> Void
    ) throws(SystemError) {
        self.poller = poller
        id = try poller.add(descriptor, handler)
    }

    deinit {
        cancel()
    }

    /// Tells from now on when the socket is ready for `readiness`.
    package func resume(_ readiness: Readiness) {
        poller.change(id) { $0.formUnion(readiness) }
    }

    /// Tells no more that the socket is ready for `readiness`.
    package func suspend(_ readiness: Readiness) {
        poller.change(id) { $0.subtract(readiness) }
    }

    /// Tells nothing more, and lets go of the socket; may be called twice.
    package func cancel() {
        poller.remove(id)
    }
}
