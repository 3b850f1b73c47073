import Dispatch
import KleosPractice
import KleosSupport
import KleosTestSupport
import Synchronization

/// A server on 127.0.0.1 that answers with whatever bytes a test wants, one reply a request.
final class RawServer: Sendable {
    /// What happens after a request came in whole.
    enum Reply: Sendable {
        /// These bytes; the connection then waits for another request.
        case answer(String)
        /// These bytes, which are no text.
        case bytes([UInt8])
        /// These bytes, then an orderly end.
        case answerThenClose(String)
        /// These bytes, then a reset.
        case answerThenReset(String)
        /// An end without an answer; nobody listens any more.
        case closeForGood
        /// These bytes again and again, until the client goes.
        case endless(head: String, block: String)
        /// These bytes one by one with pauses, from the beginning again at their end, until the client goes.
        case drip(head: String, block: String)
        /// Nothing, until the client goes.
        case silence
    }

    private struct State {
        var replies: [Reply]
        var requests: [String] = []
    }

    private final class Shared: Sendable {
        let state: Mutex<State>
        let arrivals = DispatchSemaphore(value: 0)
        let departures = DispatchSemaphore(value: 0)
        /// Ends the listening; set once the listener is there.
        let refuse = Mutex<@Sendable () -> Void>({})

        init(_ replies: [Reply]) { state = Mutex(State(replies: replies)) }

        /// Notes the request and says what to do.
        func take(_ request: String) -> Reply? {
            defer { arrivals.signal() }
            return state.withLock { state in
                state.requests.append(request)
                return state.replies.count > 1 ? state.replies.removeFirst() : state.replies.first
            }
        }
    }

    private let listener: RawListener
    private let shared: Shared
    private let isSecure: Bool

    var address: TCPAddress { listener.address }
    /// The base URL.
    var url: String { "\(isSecure ? "https" : "http")://\(address)" }
    /// The requests so far, headers and body.
    var requests: [String] { shared.state.withLock { $0.requests } }
    /// How many connections were made.
    var connectionCount: Int { listener.connectionCount }

    /// The last reply is given to every request after it too.
    convenience init(_ replies: Reply...) throws { try self.init(replies) }

    /// The last reply is given to every request after it too; `tls` makes the server a secure one.
    init(_ replies: [Reply], tls: TLSContext? = nil) throws {
        let shared = Shared(replies)
        self.shared = shared
        isSecure = tls != nil
        listener = try RawListener { descriptor in
            if let tls {
                if let stream = tls.accept(descriptor) { Self.serve(stream, shared) }
            } else {
                Self.serve(PlainStream(descriptor: descriptor), shared)
            }
            shared.departures.signal()
        }
        shared.refuse.withLock { $0 = { [weak listener] in listener?.refuse() } }
    }

    /// Refuses further connections and cuts those that there are.
    func stop() { listener.stop() }

    /// Waits until one more request came; false where none does in half a minute.
    func waitForRequest() -> Bool { shared.arrivals.wait(timeout: Patience.end) == .success }

    /// Waits until one more connection was ended by the client; false where none is in half a minute.
    func waitForDeparture() -> Bool { shared.departures.wait(timeout: Patience.end) == .success }

    private static func serve(_ stream: some ByteStream, _ shared: Shared) {
        var received: [UInt8] = []
        while let request = Self.request(from: stream, &received) {
            guard let reply = shared.take(request), give(reply, on: stream, shared) else { return }
        }
    }

    /// Gives the reply; returns whether the connection goes on.
    private static func give(_ reply: Reply, on stream: some ByteStream, _ shared: Shared) -> Bool {
        switch reply {
        case .answer(let text): return stream.write(Array(text.utf8))
        case .bytes(let bytes): return stream.write(bytes)
        case .answerThenClose(let text):
            _ = stream.write(Array(text.utf8))
            stream.close()
        case .answerThenReset(let text):
            _ = stream.write(Array(text.utf8))
            stream.reset()
        case .closeForGood:
            shared.refuse.withLock { $0 }()
            stream.close()
        case .endless(let head, let block):
            guard stream.write(Array(head.utf8)) else { return false }
            while stream.write(Array(block.utf8)) {}
        case .drip(let head, let block):
            guard stream.write(Array(head.utf8)) else { return false }
            while true {
                for byte in block.utf8 {
                    guard stream.write([byte]), !stream.isGone(afterMilliseconds: 10) else { return false }
                }
            }
        case .silence: return true
        }
        return false
    }

    /// Reads one request with its body; nil where the client went.
    private static func request(from stream: some ByteStream, _ received: inout [UInt8]) -> String? {
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
            guard let bytes = stream.read() else { return nil }
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

    /// The first `count` bytes; for ASCII.
    func bytes(_ count: Int) -> String { String(decoding: utf8.prefix(count), as: UTF8.self) }
}
