import Dispatch
import Glibc
import KleosConfig
import KleosModel
import KleosSupport
import KleosWire

/// A listening socket in service.
final class Acceptor {
    let listener: Listener
    let watch: SocketWatch

    init(
        _ listener: Listener, on poller: SocketPoller, handler: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        self.listener = listener
        watch = try SocketWatch(listener.descriptor, on: poller) { _ in handler() }
    }

    func close() {
        watch.cancel()
        // Unlinked while it still listens, so that nobody can have bound the path anew in between.
        if let path = listener.ownedPath { unlink(path) }
    }
}

extension Server {
    /// How long accepting pauses when there are no descriptors left, in milliseconds.
    private static let acceptPauseMilliseconds = 500
    /// Connections taken in one turn, so that those that are there get theirs.
    private static let acceptsInTurn = 32

    func serve(_ listener: Listener) {
        guard !isStopped else {
            if let path = listener.ownedPath { unlink(path) }
            return
        }
        let index = acceptors.count
        do throws(SystemError) {
            let acceptor = try Acceptor(listener, on: poller) { [weak self] in
                self?.assumeIsolated { $0.acceptWaiting(index) }
            }
            acceptors.append(acceptor)
            acceptor.watch.resume(.read)
        } catch {
            log(
                .error, "a socket is not served until kleosd is started again: \(error)",
                ["path": listener.ownedPath ?? "\(listener.role)"])
        }
    }

    private func acceptWaiting(_ index: Int) {
        guard acceptors.indices.contains(index) else { return }
        let acceptor = acceptors[index]
        for _ in 0..<Self.acceptsInTurn {
            do throws(SystemError) {
                guard try takeOne(at: acceptor) else { return }
            } catch {
                log(.warning, "accepting connections pauses: \(error)")
                pauseAccepting(index)
                return
            }
        }
    }

    /// Takes in one client; false where nobody waits.
    private func takeOne(at acceptor: Acceptor) throws(SystemError) -> Bool {
        do throws(SystemError) {
            guard let descriptor = try UnixSocket.accept(on: acceptor.listener.descriptor) else { return false }
            admit(descriptor, role: acceptor.listener.role)
            return true
        } catch {
            guard error.code == EMFILE || error.code == ENFILE, spareDescriptor != nil else { throw error }
            // The spare descriptor is given up for as long as it takes to tell the client that there are too many.
            spareDescriptor = nil
            defer { spareDescriptor = Self.openSpare() }
            return try refuseOne(at: acceptor)
        }
    }

    /// Tells one client; false where nobody waits, which accept looks at only when it has a descriptor.
    private func refuseOne(at acceptor: Acceptor) throws(SystemError) -> Bool {
        guard let accepted = try UnixSocket.accept(on: acceptor.listener.descriptor) else { return false }
        refuse(accepted, "the daemon has no descriptors left; try again later, or raise LimitNOFILE=")
        return true
    }

    private func pauseAccepting(_ index: Int) {
        acceptors[index].watch.suspend(.read)
        let resume: @Sendable () -> Void = { [weak self] in
            self?.assumeIsolated { server in
                guard server.acceptors.indices.contains(index) else { return }
                if server.spareDescriptor == nil { server.spareDescriptor = Self.openSpare() }
                server.acceptors[index].watch.resume(.read)
            }
        }
        executor.queue.asyncAfter(deadline: .now() + .milliseconds(Self.acceptPauseMilliseconds), execute: resume)
    }

    private func admit(_ descriptor: FileDescriptor, role: SocketRole) {
        let peer: PeerIdentity
        do throws(SystemError) {
            peer = try peers.identify(descriptor)
        } catch {
            log(.warning, "a connection was closed: \(error)")
            return
        }
        admit(descriptor, role: role, as: peer)
    }

    /// Takes in a client that is known, as far as the limits allow.
    func admit(_ descriptor: FileDescriptor, role: SocketRole, as peer: PeerIdentity) {
        guard connections.count < settings.limits.maximumConnections else {
            return refuse(descriptor, "the daemon has \(connections.count) connections, and takes no more")
        }
        let count = users[peer.uid]?.connections ?? 0
        guard count < settings.limits.maximumConnectionsPerUser else {
            return refuse(descriptor, "you have \(count) connections, and may have no more; close some")
        }
        let id = nextNumber()
        let watch: SocketWatch
        do throws(SystemError) {
            watch = try SocketWatch(descriptor, on: poller) { [weak self] ready in
                self?.assumeIsolated { $0.ready(id, for: ready) }
            }
        } catch {
            return refuse(descriptor, "the daemon \(error); try again later")
        }
        let user = account(of: peer.uid)
        user.connections += 1
        connections[id] = Connection(
            id: id, role: role, peer: peer, user: user, descriptor: descriptor, watch: watch)
        watch.resume(.read)
    }

    private func refuse(_ descriptor: FileDescriptor, _ message: String) {
        log(.debug, "a connection was refused: \(message)")
        var output = OutputBuffer()
        output.append(line: RPCAnswer.error(RPCError(.tooManyConnections, message), id: nil))
        // The client may be gone already; then nobody misses the sentence.
        _ = output.write(to: descriptor)
    }
}
