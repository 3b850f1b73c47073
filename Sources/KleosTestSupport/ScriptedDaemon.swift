import Dispatch
import Glibc
package import KleosJSON
package import KleosSupport
package import KleosWire
import Synchronization

/// A daemon of a few lines for tests of its clients: answers as the test says, remembers what it was asked.
package final class ScriptedDaemon: Sendable {
    /// Answers a request.
    package typealias Handler = @Sendable (Method, JSONObject) -> Result<JSONValue, RPCError>

    /// A request that came.
    package struct Request: Sendable, Equatable {
        package var method: Method
        package var parameters: JSONObject
        /// The name of the socket that it came over: `kleos.sock` or `control.sock`.
        package var socket: String
    }

    private struct State {
        var requests: [Request] = []
        var connections: [FileDescriptor] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let listeners: [(name: String, descriptor: FileDescriptor)]
    private let handler: Handler
    /// The folder with the sockets.
    package let folder: String

    /// Listens at `kleos.sock` and `control.sock` in `folder`. Throws `SystemError`.
    package init(folder: String, handler: @escaping Handler) throws(SystemError) {
        self.folder = folder
        self.handler = handler
        var listeners: [(String, FileDescriptor)] = []
        for name in ["kleos.sock", "control.sock"] {
            unlink("\(folder)/\(name)")
            listeners.append((name, try UnixSocket.listen(at: "\(folder)/\(name)", mode: 0o600)))
        }
        self.listeners = listeners
        for (name, descriptor) in listeners {
            let queue = DispatchQueue(label: "scripted-daemon.\(name)")
            queue.async { [self] in accept(on: descriptor, name: name) }
        }
    }

    /// The requests so far.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// Waits until `condition` holds for the requests so far; false after ten minutes without any.
    package func wait(until condition: ([Request]) -> Bool) -> Bool {
        while !condition(requests) {
            guard arrived.wait(timeout: Patience.end) == .success else { return condition(requests) }
        }
        return true
    }

    /// Sends a notification to everybody who is connected.
    package func notify(_ method: String, _ parameters: JSONValue) {
        let line = RPCAnswer.notification(method: method, parameters: parameters) + [UInt8(ascii: "\n")]
        for connection in state.withLock({ $0.connections }) { Self.write(line, to: connection) }
    }

    /// Ends all connections and stops listening; the socket files stay, as after a crash.
    package func stop() {
        let connections = state.withLock { state in
            state.isStopped = true
            defer { state.connections = [] }
            return state.connections
        }
        for listener in listeners { shutdown(listener.descriptor.number, Int32(SHUT_RDWR)) }
        for connection in connections { shutdown(connection.number, Int32(SHUT_RDWR)) }
    }

    private func accept(on listener: FileDescriptor, name: String) {
        while !state.withLock({ $0.isStopped }) {
            let number = Retry.onInterrupt { Glibc.accept(listener.number, nil, nil) }
            guard number >= 0 else { return }
            let connection = FileDescriptor(owning: number)
            let isStopped = state.withLock { state in
                if !state.isStopped { state.connections.append(connection) }
                return state.isStopped
            }
            if isStopped { return }
            let queue = DispatchQueue(label: "scripted-daemon.connection")
            queue.async { [self] in serve(connection, name: name) }
        }
    }

    private func serve(_ connection: FileDescriptor, name: String) {
        var framer = LineFramer(maximumBytes: 65_536)
        while let bytes = try? connection.read(limitBytes: 65_536), !bytes.isEmpty {
            framer.append(bytes)
            while case .line(let line)? = framer.next() { answer(line, connection, name: name) }
        }
        state.withLock { state in state.connections.removeAll { $0 === connection } }
        // Both ends see the end of the connection now, whoever else still holds the descriptor.
        shutdown(connection.number, Int32(SHUT_RDWR))
    }

    private func answer(_ line: [UInt8], _ connection: FileDescriptor, name: String) {
        guard case .single(let parsed)? = try? RPCRequest.parse(line), case .success(let request) = parsed.request,
            let method = Method(rawValue: request.method), let id = request.id
        else { return }
        state.withLock { $0.requests.append(Request(method: method, parameters: request.parameters, socket: name)) }
        let answer =
            switch handler(method, request.parameters) {
            case .success(let result): RPCAnswer.result(result, id: id)
            case .failure(let error): RPCAnswer.error(error, id: id)
            }
        Self.write(answer + [UInt8(ascii: "\n")], to: connection)
        arrived.signal()
    }

    private static func write(_ bytes: [UInt8], to connection: FileDescriptor) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Sound: the kernel reads the buffer during the call only, and no more than its count.
            let count = rest.withUnsafeBytes { buffer in
                Retry.onInterrupt { send(connection.number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL)) }
            }
            // A client that went away is what some tests are about.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
