import Dispatch
import Glibc
import KleosJSON
import KleosPractice
import KleosSupport

/// Stands between the daemon and an endpoint, passes bytes on, and remembers what went through: it outlives the kills
/// of both. It can stop at a request or at a byte of an answer, so that a kill comes exactly there.
final class EndpointRelay: Sendable {
    /// Where it stops.
    enum Trip: Sendable {
        /// So many further requests came in whole; the last of them is held or let through.
        case request(count: Int, isHeld: Bool)
        /// So many further bytes of answers were passed on; no more of any answer goes out.
        case answerBytes(count: Int)
    }

    /// What went through.
    struct Traffic: Sendable {
        /// The first body of each key.
        var bodies: [String: [UInt8]] = [:]
        /// How often each key came.
        var requests: [String: Int] = [:]
        var requestCount = 0
        /// Complete answers of each key that the daemon was sent, in order.
        var statuses: [String: [Int]] = [:]
        /// The confirmations that the daemon was sent.
        var confirmations: [String: JSONValue] = [:]
        /// What must not have gone through.
        var problems: [String] = []

        fileprivate var trip: Trip?
        var isTripped = false
    }

    private let listener: FileDescriptor
    private let target: TCPAddress
    private let monitor = Monitor(Traffic())

    /// The base URL for the daemon.
    let url: String

    /// Relays to the endpoint at `target`, a URL with a numeric address. Throws `SystemError`.
    init(to target: String) throws(SystemError) {
        guard let address = TCPAddress(target.replacing("http://", with: "")) else {
            throw SystemError("relay to \(target)", code: EINVAL)
        }
        self.target = address
        let (listener, own) = try TCPSocket.listen(at: TCPAddress(host: "127.0.0.1", port: 0))
        self.listener = listener
        url = "http://\(own)"
        DispatchQueue(label: "relay").async { [weak self] in
            while Self.waitForConnection(listener), let connection = try? UnixSocket.accept(on: listener) {
                guard let self else { return }
                self.serve(connection)
            }
        }
    }

    deinit {
        shutdown(listener.number, Int32(SHUT_RDWR))
    }

    /// What went through so far.
    var traffic: Traffic { monitor.read { $0 } }

    /// The number of requests so far.
    var requestCount: Int { monitor.read(\.requestCount) }

    /// Whether the daemon was sent a confirmation of `key`.
    func hasConfirmed(_ key: String) -> Bool { monitor.read { $0.confirmations[key] != nil } }

    /// Stops at `trip`, once.
    func arm(_ trip: Trip) {
        monitor.change { traffic in
            traffic.trip = trip
            traffic.isTripped = false
        }
    }

    /// Waits until it has stopped; false where it does not in time.
    func waitForTrip(milliseconds: Int) -> Bool { monitor.wait(milliseconds: milliseconds) { $0.isTripped } }

    /// Lets everything through again.
    func release() {
        monitor.change { traffic in
            traffic.trip = nil
            traffic.isTripped = false
        }
    }

    /// Waits until so many requests came; false where they do not in time.
    func waitForRequests(_ count: Int, milliseconds: Int) -> Bool {
        monitor.wait(milliseconds: milliseconds) { $0.requestCount >= count }
    }

    // MARK: - Connections

    private static func waitForConnection(_ listener: FileDescriptor) -> Bool {
        var entry = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, -1) } == 1 && entry.revents & Int16(POLLHUP | POLLERR) == 0
    }

    private func serve(_ client: FileDescriptor) {
        let flags = fcntl(client.number, F_GETFL)
        _ = fcntl(client.number, F_SETFL, flags & ~O_NONBLOCK)
        // A dead endpoint is one that closes the connection.
        guard let endpoint = try? TCPSocket.connect(to: target) else { return }
        let keys = Monitor<[String]>([])
        DispatchQueue(label: "relay.requests").async { [self] in
            passRequests(from: client, to: endpoint, keys)
            shutdown(endpoint.number, Int32(SHUT_WR))
        }
        DispatchQueue(label: "relay.answers").async { [self] in
            passAnswers(from: endpoint, to: client, keys)
            shutdown(client.number, Int32(SHUT_RDWR))
            shutdown(endpoint.number, Int32(SHUT_RDWR))
        }
    }

    private func passRequests(from client: FileDescriptor, to endpoint: FileDescriptor, _ keys: Monitor<[String]>) {
        var parser = HTTPRequestParser()
        while let bytes = try? client.read(limitBytes: 65_536), !bytes.isEmpty {
            bytes.withUnsafeBufferPointer { parser.append($0) }
            do {
                while let request = try parser.next() {
                    let key = request.header("idempotency-key").map { String($0.dropFirst().dropLast()) } ?? ""
                    keys.change { $0.append(key) }
                    take(request, key)
                }
            } catch {
                monitor.change { $0.problems.append("the daemon sent no HTTP: \(error)") }
                return
            }
            guard (try? TCPSocket.sendAll(bytes, on: endpoint)) != nil else { return }
        }
    }

    /// Notes a request, and stops where this is the one to stop at.
    private func take(_ request: HTTPRequest, _ key: String) {
        let isHeld = monitor.change { traffic in
            traffic.requestCount += 1
            traffic.requests[key, default: 0] += 1
            if let first = traffic.bodies[key] {
                if first != request.body {
                    let (old, new) = (
                        String(decoding: first, as: UTF8.self), String(decoding: request.body, as: UTF8.self)
                    )
                    traffic.problems.append("key \(key) came with another payload: \(old) and then \(new)")
                }
            } else {
                traffic.bodies[key] = request.body
            }
            guard case .request(let count, let isHeld)? = traffic.trip, !traffic.isTripped else { return false }
            traffic.trip = .request(count: count - 1, isHeld: isHeld)
            guard count <= 1 else { return false }
            traffic.isTripped = true
            return isHeld
        }
        if isHeld { _ = monitor.wait(milliseconds: 60_000) { !$0.isTripped } }
    }

    private func passAnswers(from endpoint: FileDescriptor, to client: FileDescriptor, _ keys: Monitor<[String]>) {
        var reader = AnswerReader()
        while let bytes = try? endpoint.read(limitBytes: 65_536), !bytes.isEmpty {
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(allowance(for: rest.count))
                guard !piece.isEmpty else {
                    _ = monitor.wait(milliseconds: 60_000) { !$0.isTripped }
                    continue
                }
                rest = rest.dropFirst(piece.count)
                // Noted before the daemon can act on it.
                for answer in reader.append(piece) { note(answer, keys.change { $0.isEmpty ? "" : $0.removeFirst() }) }
                guard (try? TCPSocket.sendAll(Array(piece), on: client)) != nil else { return }
            }
        }
    }

    /// How many of `count` bytes of an answer may go out now.
    private func allowance(for count: Int) -> Int {
        monitor.change { traffic in
            guard case .answerBytes(let left)? = traffic.trip else { return count }
            let allowed = min(count, left)
            traffic.trip = .answerBytes(count: left - allowed)
            if left == allowed { traffic.isTripped = true }
            return allowed
        }
    }

    private func note(_ answer: AnswerReader.Answer, _ key: String) {
        monitor.change { traffic in
            traffic.statuses[key, default: []].append(answer.status)
            guard [200, 201].contains(answer.status), let body = try? JSONParser.parse(answer.body),
                body["accepted"]?.boolValue == true
            else { return }
            traffic.confirmations[key] = body
        }
    }
}

/// Reads answers with a Content-Length as their bytes come.
private struct AnswerReader {
    struct Answer {
        var status: Int
        var body: [UInt8]
    }

    private var buffer: [UInt8] = []

    /// Adds bytes; returns the answers that are complete now.
    mutating func append(_ bytes: ArraySlice<UInt8>) -> [Answer] {
        buffer += bytes
        var answers: [Answer] = []
        while let (answer, length) = Self.answer(in: buffer) {
            buffer.removeFirst(length)
            answers.append(answer)
        }
        return answers
    }

    private static func answer(in buffer: [UInt8]) -> (Answer, length: Int)? {
        guard let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) }
        let total = end.upperBound + (length ?? 0)
        guard let status, buffer.count >= total else { return nil }
        return (Answer(status: status, body: Array(buffer[end.upperBound..<total])), total)
    }
}
