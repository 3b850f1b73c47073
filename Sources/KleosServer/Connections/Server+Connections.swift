import Dispatch
import Glibc
import KleosConfig
import KleosModel
import KleosSupport
import KleosWire

extension Server {
    /// Bytes read in one turn of a connection.
    static let readBytes = 32_768
    /// Lines taken up in one turn of a connection.
    private static let turnLines = 64

    // MARK: Reading

    func ready(_ id: UInt64, for readiness: Readiness) {
        guard let connection = connections[id] else { return }
        if readiness.contains(.write) {
            flush(connection)
            markDirty(connection)
        }
        if readiness.contains(.read), !connection.isClosed { read(connection) }
    }

    private func read(_ connection: Connection) {
        do throws(SystemError) {
            let count = try connection.descriptor.read(into: &readBuffer)
            if count == 0 {
                connection.hasEnded = true
                connection.watch.suspend(.read)
            } else {
                // Sound: the framer copies, and the count is what the kernel filled.
                readBuffer.withUnsafeBufferPointer {
                    connection.framer.append(UnsafeBufferPointer(rebasing: $0[..<count]))
                }
            }
        } catch {
            if error.code == EAGAIN { return }
            log(.debug, "a connection broke: \(error)")
            return close(connection)
        }
        awaitTurn(connection)
    }

    /// Lets the connection's lines be taken up: at once if nobody waits, else when its turn comes.
    private func awaitTurn(_ connection: Connection) {
        guard !connection.isWaiting else { return }
        if waiting.isEmpty {
            process(connection)
        } else {
            queueUp(connection)
        }
        closeSoonIfDone(connection)
    }

    /// A connection whose end was read is closed when its last answer is out, which may have been long ago.
    private func closeSoonIfDone(_ connection: Connection) {
        if connection.hasEnded || connection.isClosing { markDirty(connection) }
    }

    /// Users take turns, and within a user's turns that user's connections.
    private func queueUp(_ connection: Connection) {
        connection.isWaiting = true
        // What it sends meanwhile stays with the kernel.
        connection.watch.suspend(.read)
        waiting.append(connection.id, owner: connection.peer.uid, line: connection.id)
        scheduleTurn()
    }

    private func scheduleTurn() {
        guard !isTurnScheduled, !waiting.isEmpty else { return }
        isTurnScheduled = true
        async { $0.takeTurn() }
    }

    private func takeTurn() {
        isTurnScheduled = false
        guard let id = waiting.popFirst() else { return }
        if let connection = connections[id] {
            connection.isWaiting = false
            process(connection)
            closeSoonIfDone(connection)
        }
        scheduleTurn()
    }

    /// Takes up the lines that are there, as far as the limits allow, and as many as a turn has.
    private func process(_ connection: Connection) {
        let now = clock.read()
        connection.isBlocked = false
        var lines = 0
        while !connection.isClosed, !connection.isClosing {
            guard mayProcess(connection) else {
                connection.isBlocked = true
                waitForShare(connection)
                break
            }
            guard lines < Self.turnLines else {
                queueUp(connection)
                break
            }
            guard let frame = connection.framer.next() else { break }
            lines += 1
            switch frame {
            case .line(let line): take(line, from: connection, now: now)
            case .tooLong:
                let message = "a request has at most \(Limits.requestBytes) bytes; this line was skipped"
                send(RPCAnswer.error(RPCError(.tooLarge, message), id: nil), to: connection)
            }
        }
        submitBundle(of: connection)
        guard !connection.isClosed else { return }
        if connection.isBlocked || connection.isWaiting || connection.hasEnded || connection.isClosing {
            connection.watch.suspend(.read)
        } else {
            connection.watch.resume(.read)
        }
    }

    // MARK: Writing

    /// Queues one line for a connection.
    func send(_ line: [UInt8], to connection: Connection) {
        guard !connection.isClosed else { return }
        connection.output.append(line: line)
        markDirty(connection)
    }

    /// Writes the connection's output, and goes on with its requests, once everything that is queued now was handled:
    /// so answers that come together go out together.
    func markDirty(_ connection: Connection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        if dirty.isEmpty { async { $0.flushAll() } }
        dirty.append(connection)
    }

    private func flushAll() {
        let all = dirty
        dirty = []
        for connection in all {
            connection.isDirty = false
            flush(connection)
            guard !connection.isClosed else { continue }
            if connection.isBlocked {
                if mayProcess(connection) { awaitTurn(connection) } else { waitForShare(connection) }
            }
            closeIfFinished(connection)
        }
    }

    func flush(_ connection: Connection) {
        guard !connection.isClosed, !connection.output.isEmpty else { return }
        switch connection.output.write(to: connection.descriptor) {
        case .finished: connection.watch.suspend(.write)
        case .failed(let code):
            log(.debug, "a client went away: \(SystemError("write to it", code: code))")
            close(connection)
        case .blocked:
            guard connection.output.count <= settings.limits.outputLimitBytes else {
                return cutOff(connection, "it does not read what it subscribed to")
            }
            connection.watch.resume(.write)
            watchProgress(connection)
        }
    }

    /// Closes the connection where none of its output is taken for the time allowed.
    private func watchProgress(_ connection: Connection) {
        guard !connection.isWatched else { return }
        connection.isWatched = true
        let id = connection.id
        let written = connection.output.writtenBytes
        let look: @Sendable () -> Void = { [weak self] in
            self?.assumeIsolated { server in
                guard let connection = server.connections[id] else { return }
                connection.isWatched = false
                guard !connection.output.isEmpty else { return }
                guard connection.output.writtenBytes > written else {
                    return server.cutOff(connection, "it reads no answers")
                }
                server.watchProgress(connection)
            }
        }
        executor.queue.asyncAfter(
            deadline: .now() + .milliseconds(settings.stallTimeoutMilliseconds), execute: look)
    }

    // MARK: Closing

    private func cutOff(_ connection: Connection, _ reason: String) {
        log(
            .info, "a client was cut off: \(reason)",
            ["uid": String(connection.peer.uid), "pid": String(connection.peer.pid)])
        close(connection)
    }

    private func closeIfFinished(_ connection: Connection) {
        guard !connection.isClosed, connection.output.isEmpty else { return }
        let isDone = connection.unanswered == 0 && !connection.isBlocked && !connection.isWaiting
        if connection.isClosing || (connection.hasEnded && isDone) { close(connection) }
    }

    func close(_ connection: Connection) {
        guard !connection.isClosed else { return }
        connection.isClosed = true
        if connection.framer.hasPartialLine { log(.debug, "a client left in the middle of a line") }
        connection.watch.cancel()
        connections[connection.id] = nil
        subscribers.remove(connection.id)
        presenceChanged(from: connection.presence, to: nil)
        let uid = connection.peer.uid
        connection.user.connections -= 1
        connection.user.blocked.remove(connection.id)
        forgetIfIdle(uid)
    }

    func forgetIfIdle(_ uid: UInt32) {
        if users[uid]?.isIdle == true { users[uid] = nil }
    }
}
