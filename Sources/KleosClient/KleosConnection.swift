import Glibc
package import KleosJSON
import KleosModel
package import KleosSupport
package import KleosWire

/// Why a conversation with the daemon failed.
package enum ConnectionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No daemon listens at any of the places, each with the reason.
    case noDaemon([String])
    /// The daemon went away, or the connection broke.
    case closed(String)
    /// Nothing came within the time allowed.
    case timedOut(String)
    /// The daemon refused the request.
    case refused(RPCError)
    /// The daemon sent something that is not of the protocol.
    case malformed(String)

    package var description: String {
        switch self {
        case .noDaemon(let reasons): "no kleos daemon answers: \(reasons.joined(separator: "; "))"
        case .closed(let what): "the connection to the daemon ended: \(what)"
        case .timedOut(let what): "the daemon did not answer in time: \(what)"
        case .refused(let error): error.description
        case .malformed(let what): "the daemon sent something unexpected: \(what)"
        }
    }
}

/// A blocking connection to the daemon, for tools that do one thing after another. Not for several threads at once.
package final class KleosConnection {
    /// The socket's path.
    package let path: String
    private let descriptor: FileDescriptor
    private var framer = LineFramer(maximumBytes: Limits.answerBytes)
    private var nextID: Int64 = 1
    private var answers: [Int64: Result<JSONValue, RPCError>] = [:]
    private var notifications: [(method: String, parameters: JSONValue)] = []

    /// Connects to `path`; with `sendTimeoutMilliseconds`, a daemon that takes nothing for so long has not answered in
    /// time. Throws `SystemError`; EAGAIN where the daemon did not take the connection in time.
    package init(path: String, sendTimeoutMilliseconds: Int64? = nil) throws(SystemError) {
        self.path = path
        descriptor = try UnixSocket.connect(to: path, sendTimeoutMilliseconds: sendTimeoutMilliseconds)
    }

    /// Connects to the first of `candidates` that answers. Throws `ConnectionError.noDaemon`.
    package static func open(_ candidates: [String]) throws(ConnectionError) -> KleosConnection {
        var reasons: [String] = []
        for path in candidates {
            do throws(SystemError) {
                return try KleosConnection(path: path)
            } catch {
                reasons.append(error.description)
            }
        }
        throw .noDaemon(reasons)
    }

    /// Sends a request and returns the number under which its answer will come. Throws `ConnectionError`.
    @discardableResult
    package func send(_ method: Method, _ parameters: JSONObject = JSONObject()) throws(ConnectionError) -> Int64 {
        let id = nextID
        nextID += 1
        try write(RPCRequest(id: id, method: method.rawValue, parameters: parameters).line)
        return id
    }

    /// Waits for the answer to the request that `send` numbered `id`; nil for no limit of time.
    /// Throws `ConnectionError`, `refused` with the daemon's own error.
    package func receive(_ id: Int64, timeoutMilliseconds: Int64? = nil) throws(ConnectionError) -> JSONValue {
        let deadline = Deadline(afterMilliseconds: timeoutMilliseconds)
        while true {
            if let answer = answers.removeValue(forKey: id) {
                switch answer {
                case .success(let value): return value
                case .failure(let error): throw .refused(error)
                }
            }
            guard try readSome(until: deadline) else { throw .timedOut("request \(id)") }
        }
    }

    /// As `receive`, and hands over each notification as it comes. Throws `ConnectionError`.
    package func receive(
        _ id: Int64, onNotification: (_ method: String, _ parameters: JSONValue) -> Void
    ) throws(ConnectionError) -> JSONValue {
        while answers[id] == nil {
            _ = try readSome(until: Deadline(afterMilliseconds: nil))
            for notification in takeNotifications() { onNotification(notification.method, notification.parameters) }
        }
        return try receive(id)
    }

    /// Sends a request and waits for its answer. Throws `ConnectionError`.
    package func request(
        _ method: Method, _ parameters: JSONObject = JSONObject(), timeoutMilliseconds: Int64? = 30_000
    ) throws(ConnectionError) -> JSONValue {
        try receive(try send(method, parameters), timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Waits for the next notification; nil where none came within the time allowed. Throws `ConnectionError`.
    package func nextNotification(
        timeoutMilliseconds: Int64? = nil
    ) throws(ConnectionError) -> (method: String, parameters: JSONValue)? {
        let deadline = Deadline(afterMilliseconds: timeoutMilliseconds)
        while notifications.isEmpty {
            guard try readSome(until: deadline) else { return nil }
        }
        return notifications.removeFirst()
    }

    /// Waits until a notification has come, or `other` is readable. Throws `ConnectionError`.
    package func wait(reading other: Int32) throws(ConnectionError) {
        while notifications.isEmpty {
            var entries = [descriptor.number, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard Retry.onInterrupt({ poll(&entries, 2, -1) }) > 0 else {
                throw .closed(SystemError("wait for \(path)").description)
            }
            if entries[0].revents != 0 { _ = try readSome(until: Deadline(afterMilliseconds: 0)) }
            if entries[1].revents != 0 { return }
        }
    }

    /// Takes the notifications that have already been read.
    package func takeNotifications() -> [(method: String, parameters: JSONValue)] {
        defer { notifications = [] }
        return notifications
    }

    private func write(_ bytes: [UInt8]) throws(ConnectionError) {
        var offset = 0
        while offset < bytes.count {
            // Sound: offset is less than the count, and the kernel reads during the call only.
            let count = bytes.withUnsafeBytes { buffer in
                Retry.onInterrupt {
                    Glibc.send(
                        descriptor.number, buffer.baseAddress.map { $0 + offset }, bytes.count - offset,
                        Int32(MSG_NOSIGNAL))
                }
            }
            if count <= 0 {
                let error = SystemError("write to \(path)")
                if error.code == EAGAIN { throw .timedOut("it reads nothing") }
                // A daemon that closes a connection says why first.
                while try readSome(until: Deadline(afterMilliseconds: 0)) {}
                throw .closed(error.description)
            }
            offset += count
        }
    }

    /// Reads what has come; false where nothing came until `deadline`.
    private func readSome(until deadline: Deadline) throws(ConnectionError) -> Bool {
        guard try deadline.waitForInput(on: descriptor, path: path) else { return false }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try descriptor.read(limitBytes: 65_536)
        } catch {
            throw .closed(error.description)
        }
        guard !bytes.isEmpty else { throw .closed("\(path) was closed by the daemon") }
        framer.append(bytes)
        while let frame = framer.next() { try take(frame) }
        return true
    }

    private func take(_ frame: LineFramer.Frame) throws(ConnectionError) {
        guard case .line(let line) = frame else { throw .malformed("a line of more than \(Limits.answerBytes) bytes") }
        do throws(RPCError) {
            switch try RPCIncoming.parse(line) {
            case .answer(let id, let result): answers[id] = result
            case .notification(let method, let parameters): notifications.append((method, parameters))
            case .failure(let error): throw error
            }
        } catch {
            throw .refused(error)
        }
    }
}

/// A point in time after which waiting ends.
private struct Deadline {
    private static let clock = SystemClock()
    private let atMilliseconds: Int64?

    init(afterMilliseconds milliseconds: Int64?) {
        atMilliseconds = milliseconds.map { Self.now() + $0 }
    }

    private static func now() -> Int64 {
        Self.clock.read().monotonicMilliseconds
    }

    func waitForInput(on descriptor: FileDescriptor, path: String) throws(ConnectionError) -> Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        while true {
            var wait: Int32 = -1
            if let atMilliseconds { wait = Int32(clamping: max(0, atMilliseconds - Self.now())) }
            let count = poll(&entry, 1, wait)
            if count > 0 { return true }
            if count == 0 { return false }
            guard errno == EINTR else { throw .closed(SystemError("wait for \(path)").description) }
        }
    }
}
