import Dispatch
import Glibc
import KleosConfig
import KleosSupport

/// A connection over the network's loopback that has not yet shown the token.
final class LoopbackVisitor {
    let descriptor: FileDescriptor
    var shown: [UInt8] = []
    var watch: SocketWatch?
    var timer: (any DispatchSourceTimer)?

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    func leave() {
        watch?.cancel()
        timer?.cancel()
        watch = nil
        timer = nil
    }
}

/// The loopback socket in service, with who waits at it.
final class LoopbackDoor {
    let socket: LoopbackSocket
    /// The line that opens, its line feed included.
    let password: [UInt8]
    var watch: SocketWatch?
    var visitors: [UInt64: LoopbackVisitor] = [:]
    /// In the order in which they came.
    var order: [UInt64] = []

    init(_ socket: LoopbackSocket) {
        self.socket = socket
        password = Array("\(socket.token)\n".utf8)
    }

    func close() {
        watch?.cancel()
        for visitor in visitors.values { visitor.leave() }
        visitors = [:]
    }

    /// Compares without telling by its time how much was right.
    func opens(for shown: [UInt8]) -> Bool {
        shown.count == password.count && zip(shown, password).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Server {
    /// Visitors beyond this make the one that waits longest leave, so that none can keep the others out.
    private static let maximumVisitors = 16
    /// A game sends its token at once.
    private static let visitSeconds = 10

    /// Begins to serve clients that show the token of `socket`; they count as the daemon's own user.
    package nonisolated func listen(at socket: LoopbackSocket) {
        async { server in
            guard !server.isStopped else { return }
            let door = LoopbackDoor(socket)
            do throws(SystemError) {
                door.watch = try SocketWatch(socket.descriptor, on: server.poller) { [weak server] _ in
                    server?.assumeIsolated { $0.answerDoor() }
                }
            } catch {
                return server.log(.error, "LoopbackPort= is not served until kleosd is started again: \(error)")
            }
            server.door = door
            door.watch?.resume(.read)
        }
    }

    private func answerDoor() {
        guard let door else { return }
        for _ in 0..<Self.maximumVisitors {
            do throws(SystemError) {
                guard let descriptor = try UnixSocket.accept(on: door.socket.descriptor) else { return }
                receive(descriptor, at: door)
            } catch {
                // Whoever is refused for want of descriptors tries again; the Unix sockets tell of it.
                log(.warning, "a connection to LoopbackPort= could not be taken: \(error)")
                return
            }
        }
    }

    private func receive(_ descriptor: FileDescriptor, at door: LoopbackDoor) {
        if door.visitors.count >= Self.maximumVisitors, let oldest = door.order.first { dismiss(oldest) }
        let id = nextNumber()
        let visitor = LoopbackVisitor(descriptor)
        do throws(SystemError) {
            visitor.watch = try SocketWatch(descriptor, on: poller) { [weak self] _ in
                self?.assumeIsolated { $0.hear(id) }
            }
        } catch {
            return log(.warning, "a connection to LoopbackPort= was closed: \(error)")
        }
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        timer.schedule(deadline: .now() + .seconds(Self.visitSeconds))
        timer.setEventHandler { [weak self] in self?.assumeIsolated { $0.dismiss(id) } }
        visitor.timer = timer
        door.visitors[id] = visitor
        door.order.append(id)
        visitor.watch?.resume(.read)
        timer.activate()
    }

    /// Takes what a visitor says, and not a byte more than the token's line has.
    private func hear(_ id: UInt64) {
        guard let door, let visitor = door.visitors[id] else { return }
        do throws(SystemError) {
            let bytes = try visitor.descriptor.read(limitBytes: door.password.count - visitor.shown.count)
            guard !bytes.isEmpty else { return dismiss(id) }
            visitor.shown += bytes
        } catch {
            if error.code != EAGAIN { dismiss(id) }
            return
        }
        guard visitor.shown.count == door.password.count || visitor.shown.contains(UInt8(ascii: "\n")) else { return }
        dismiss(id)
        guard door.opens(for: visitor.shown) else {
            return log(.warning, "a connection to LoopbackPort= did not show the token, and was closed")
        }
        let peer = PeerIdentity(uid: settings.daemonUID, gid: getgid(), pid: 0, groups: [getgid()])
        admit(visitor.descriptor, role: .submit, as: peer)
    }

    private func dismiss(_ id: UInt64) {
        guard let door, let visitor = door.visitors.removeValue(forKey: id) else { return }
        door.order.removeAll { $0 == id }
        visitor.leave()
    }
}
