import Dispatch
import Glibc
import KleosPractice
import KleosSupport
import Synchronization

/// Accepts connections at a free port of 127.0.0.1 and serves each on a thread of its own.
final class RawListener: Sendable {
    private struct State {
        var open: [Int: FileDescriptor] = [:]
        var count = 0
    }

    let address: TCPAddress
    private let listener: FileDescriptor
    private let state = Mutex(State())

    /// How many connections were made.
    var connectionCount: Int { state.withLock { $0.count } }

    /// `serve` gets each connection, which blocks; it is closed when `serve` is done.
    init(serve: @escaping @Sendable (FileDescriptor) -> Void) throws {
        (listener, address) = try TCPSocket.listen(at: TCPAddress(host: "127.0.0.1", port: 0))
        let listener = listener
        DispatchQueue(label: "raw listener").async { [weak self] in
            while Self.waitForConnection(listener), let connection = try? UnixSocket.accept(on: listener) {
                guard let self else { return }
                self.begin(connection, serve)
            }
        }
    }

    deinit { stop() }

    /// Refuses further connections and cuts those that there are.
    func stop() {
        refuse()
        for connection in state.withLock({ $0.open.values }) { shutdown(connection.number, Int32(SHUT_RDWR)) }
    }

    /// Refuses further connections.
    func refuse() {
        shutdown(listener.number, Int32(SHUT_RDWR))
    }

    private static func waitForConnection(_ listener: FileDescriptor) -> Bool {
        var entry = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, -1) } == 1 && entry.revents & Int16(POLLHUP | POLLERR) == 0
    }

    private func begin(_ connection: FileDescriptor, _ serve: @escaping @Sendable (FileDescriptor) -> Void) {
        let flags = fcntl(connection.number, F_GETFL)
        _ = fcntl(connection.number, F_SETFL, flags & ~O_NONBLOCK)
        try? TCPSocket.disableDelay(connection)
        let number = state.withLock { state in
            state.count += 1
            state.open[state.count] = connection
            return state.count
        }
        DispatchQueue(label: "raw connection").async { [weak self] in
            serve(connection)
            self?.state.withLock { $0.open[number] = nil }
        }
    }
}
