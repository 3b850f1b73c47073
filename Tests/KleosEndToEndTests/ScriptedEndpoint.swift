import Dispatch
import Glibc
import KleosPractice
import KleosSupport
import Synchronization

/// An endpoint on 127.0.0.1 that answers each request with the next of its answers, and the last for ever.
final class ScriptedEndpoint: Sendable {
    private struct State {
        var answers: [Answer]
        var requests: [String] = []
    }

    /// What comes back for one request; the connection ends after it.
    enum Answer: Sendable {
        case text(String)
        /// A head, then a block again and again until the client goes.
        case endless(head: String, block: [UInt8])
    }

    let address: TCPAddress
    private let listener: FileDescriptor
    private let state: Mutex<State>

    /// The base URL.
    var url: String { "http://\(address)" }
    /// The requests so far, headers and body.
    var requests: [String] { state.withLock { $0.requests } }

    init(_ answers: [Answer]) throws {
        (listener, address) = try TCPSocket.listen(at: TCPAddress(host: "127.0.0.1", port: 0))
        state = Mutex(State(answers: answers))
        let listener = listener
        DispatchQueue(label: "scripted endpoint").async { [weak self] in
            while Self.waitForConnection(listener), let connection = try? UnixSocket.accept(on: listener) {
                guard let self else { return }
                self.serve(connection)
            }
        }
    }

    deinit { shutdown(listener.number, Int32(SHUT_RDWR)) }

    /// A whole answer of HTTP/1.1.
    static func http(_ status: String, _ fields: [String] = [], body: String) -> Answer {
        let head = ["HTTP/1.1 \(status)", "Connection: close", "Content-Length: \(body.utf8.count)"] + fields
        return .text(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    private static func waitForConnection(_ listener: FileDescriptor) -> Bool {
        var entry = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, -1) } == 1 && entry.revents & Int16(POLLHUP | POLLERR) == 0
    }

    private func serve(_ connection: FileDescriptor) {
        let flags = fcntl(connection.number, F_GETFL)
        _ = fcntl(connection.number, F_SETFL, flags & ~O_NONBLOCK)
        guard let request = Self.request(from: connection) else { return }
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first
        }
        switch answer {
        case .text(let text): _ = try? TCPSocket.sendAll(Array(text.utf8), on: connection)
        case .endless(let head, let block):
            guard (try? TCPSocket.sendAll(Array(head.utf8), on: connection)) != nil else { return }
            while (try? TCPSocket.sendAll(block, on: connection)) != nil {}
        case nil: break
        }
        shutdown(connection.number, Int32(SHUT_RDWR))
    }

    /// Reads one request with its body; nil where the client went.
    private static func request(from connection: FileDescriptor) -> String? {
        var received: [UInt8] = []
        while true {
            let text = String(decoding: received, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let length = text[..<end.lowerBound].split(separator: "\r\n")
                    .first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
                if received.count >= text[..<end.upperBound].utf8.count + (length ?? 0) { return text }
            }
            guard let bytes = try? connection.read(limitBytes: 65_536), !bytes.isEmpty else { return nil }
            received += bytes
        }
    }
}
