import Dispatch
import Glibc
import KleosPractice
import KleosSupport
import Synchronization

/// A server on 127.0.0.1 that answers with whatever bytes a test wants, one reply a request.
final class RawServer: Sendable {
    /// What happens after a request came in whole.
    enum Reply: Sendable {
        /// These bytes; the connection then waits for another request.
        case answer(String)
        /// These bytes, then an orderly end.
        case answerThenClose(String)
        /// These bytes, then a reset.
        case answerThenReset(String)
        /// These bytes again and again, until the client goes.
        case endless(head: String, block: String)
        /// Nothing, until the client goes.
        case silence
    }

    private struct State {
        var replies: [Reply]
        var requests: [String] = []
        var connections: [FileDescriptor] = []
        var clientsGone = 0
    }

    let address: TCPAddress
    private let listener: FileDescriptor
    private let state: Mutex<State>
    private let arrivals = DispatchSemaphore(value: 0)
    private let departures = DispatchSemaphore(value: 0)

    /// The base URL.
    var url: String { "http://\(address)" }
    /// The requests so far, headers and body.
    var requests: [String] { state.withLock { $0.requests } }
    /// How many connections were made.
    var connectionCount: Int { state.withLock { $0.connections.count } }

    /// The last reply is given to every request after it too.
    init(_ replies: Reply...) throws {
        (listener, address) = try TCPSocket.listen(at: TCPAddress(host: "127.0.0.1", port: 0))
        state = Mutex(State(replies: replies))
        let listener = listener
        DispatchQueue(label: "raw server").async { [weak self] in
            while Self.waitForConnection(listener), let connection = try? UnixSocket.accept(on: listener) {
                guard let self else { return }
                self.state.withLock { $0.connections.append(connection) }
                self.serve(connection)
            }
        }
    }

    deinit { stop() }

    /// Refuses further connections and cuts those that there are.
    func stop() {
        shutdown(listener.number, Int32(SHUT_RDWR))
        for connection in state.withLock({ $0.connections }) { shutdown(connection.number, Int32(SHUT_RDWR)) }
    }

    /// Waits until one more request came; false where none does in half a minute.
    func waitForRequest() -> Bool { arrivals.wait(timeout: .now() + 30) == .success }

    /// Waits until one more connection was ended by the client; false where none is in half a minute.
    func waitForDeparture() -> Bool { departures.wait(timeout: .now() + 30) == .success }

    private static func waitForConnection(_ listener: FileDescriptor) -> Bool {
        var entry = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, -1) } == 1 && entry.revents & Int16(POLLHUP | POLLERR) == 0
    }

    private func serve(_ connection: FileDescriptor) {
        let flags = fcntl(connection.number, F_GETFL)
        _ = fcntl(connection.number, F_SETFL, flags & ~O_NONBLOCK)
        DispatchQueue(label: "raw connection").async { [weak self] in
            var received: [UInt8] = []
            while let request = Self.request(from: connection, &received) {
                guard let self else { return }
                let reply = self.state.withLock { state in
                    state.requests.append(request)
                    return state.replies.count > 1 ? state.replies.removeFirst() : state.replies.first
                }
                self.arrivals.signal()
                guard let reply, Self.give(reply, on: connection) else { break }
            }
            self?.departures.signal()
        }
    }

    /// Gives the reply; returns whether the connection goes on.
    private static func give(_ reply: Reply, on connection: FileDescriptor) -> Bool {
        switch reply {
        case .answer(let text): return send(text, on: connection)
        case .answerThenClose(let text):
            _ = send(text, on: connection)
            shutdown(connection.number, Int32(SHUT_RDWR))
            return false
        case .answerThenReset(let text):
            _ = send(text, on: connection)
            reset(connection)
            return false
        case .endless(let head, let block):
            guard send(head, on: connection) else { return false }
            while send(block, on: connection) {}
            return false
        case .silence: return true
        }
    }

    private static func send(_ text: String, on connection: FileDescriptor) -> Bool {
        (try? TCPSocket.sendAll(Array(text.utf8), on: connection)) != nil
    }

    /// Connecting to nobody makes the kernel send a reset at once, while the descriptor stays valid.
    private static func reset(_ connection: FileDescriptor) {
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        connect(connection.number, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Reads one request with its body; nil where the client went.
    private static func request(from connection: FileDescriptor, _ received: inout [UInt8]) -> String? {
        while true {
            let text = String(decoding: received, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let fields = text[..<end.lowerBound].split(separator: "\r\n")
                let length =
                    fields.first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
                let total = text[..<end.upperBound].utf8.count + length
                if received.count >= total {
                    defer { received.removeFirst(total) }
                    return String(decoding: received[..<total], as: UTF8.self)
                }
            }
            guard let bytes = try? connection.read(limitBytes: 65_536), !bytes.isEmpty else { return nil }
            received += bytes
        }
    }
}

extension String {
    /// A whole answer of HTTP/1.1 with `body`.
    static func http(_ status: String, _ fields: [String] = [], body: String = "") -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
            + body
    }

}
