import CLinux
import Glibc
import KleosJSON
import KleosSupport

/// The server's thread: accepts, reads, answers. Everything in it belongs to that thread.
///
/// Requests that are readable at the same moment share one sync of the journal.
final class EventLoop {
    /// An answer that is held back.
    private struct Delayed {
        var dueMilliseconds: Int64
        var connection: HTTPConnection?
        var reaction: Reaction
        var isHead: Bool
    }

    private static let maximumConnections = 4_096
    private static let idleLimitMilliseconds: Int64 = 120_000
    private static let drainLimitMilliseconds: Int64 = 2_000

    private let shared: PracticeShared
    private let listener: FileDescriptor
    private let epoll: FileDescriptor
    private var journal: Journal?
    private var connections: [Int32: HTTPConnection] = [:]
    private var delayed: [Delayed] = []
    private var feed = StreamFeed()
    private var unflushed: [HTTPConnection] = []
    private var isAccepting = false
    private var now: Int64 = 0
    private var nextSweepMilliseconds: Int64 = 0
    // Sound: freed in deinit; recv writes no more than its count, and parsers copy from it.
    private let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65_536)

    /// Makes the loop for a listening socket. Throws `SystemError`.
    init(shared: PracticeShared, listener: FileDescriptor, journal: Journal?) throws(SystemError) {
        self.shared = shared
        self.listener = listener
        self.journal = journal
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw SystemError("make an epoll descriptor") }
        epoll = FileDescriptor(owning: number)
        try watch(shared.wakeup.number, EPOLLIN.rawValue, EPOLL_CTL_ADD)
        try watch(listener.number, EPOLLIN.rawValue, EPOLL_CTL_ADD)
        isAccepting = true
    }

    deinit {
        scratch.deallocate()
    }

    /// Serves until `PracticeShared.requestStop` is called. Throws `SystemError` where the loop or the journal fails.
    func run() throws(SystemError) {
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        now = Self.monotonicMilliseconds()
        while !shared.isStopping {
            let count = epoll_wait(epoll.number, &events, Int32(events.count), timeoutMilliseconds())
            guard count >= 0 || errno == EINTR else { throw SystemError("wait for connections") }
            now = Self.monotonicMilliseconds()
            for event in events.prefix(Int(max(0, count))) { try handle(event) }
            try deliverDue()
            sweep()
            feedStreams()
            try flushAll()
        }
    }

    private func handle(_ event: epoll_event) throws(SystemError) {
        let number = event.data.fd
        if number == listener.number { return try accept() }
        if number == shared.wakeup.number { return shared.clearWakeup() }
        guard let connection = connections[number] else { return }
        let failed = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        if event.events & EPOLLOUT.rawValue != 0 { queueFlush(connection) }
        if event.events & EPOLLIN.rawValue != 0 || failed { try read(connection, failed: failed) }
    }

    private func accept() throws(SystemError) {
        for _ in 0..<64 {
            guard connections.count < Self.maximumConnections else { return try pauseAccepting() }
            let descriptor: FileDescriptor
            do throws(SystemError) {
                guard let accepted = try UnixSocket.accept(on: listener) else { return }
                descriptor = accepted
            } catch  where error.code == EMFILE || error.code == ENFILE {
                return try pauseAccepting()
            }
            try TCPSocket.disableDelay(descriptor)
            let connection = HTTPConnection(descriptor, nowMilliseconds: now)
            connection.interest = EPOLLIN.rawValue
            try watch(descriptor.number, connection.interest, EPOLL_CTL_ADD)
            connections[descriptor.number] = connection
        }
    }

    /// Without a free place the listener would be readable for ever; it is watched again when a connection ends.
    private func pauseAccepting() throws(SystemError) {
        try watch(listener.number, 0, EPOLL_CTL_MOD)
        isAccepting = false
    }

    private func read(_ connection: HTTPConnection, failed: Bool) throws(SystemError) {
        let count = Retry.onInterrupt { recv(connection.descriptor.number, scratch.baseAddress, scratch.count, 0) }
        if count < 0 {
            if errno != EAGAIN || failed { close(connection) }
            return
        }
        connection.lastActivityMilliseconds = now
        if count == 0 {
            connection.hasInputEnded = true
            if connection.isMute || connection.isStreaming || connection.isDraining || failed {
                return close(connection)
            }
        } else if !connection.isDraining, !connection.isMute, !connection.isStreaming {
            connection.parser.append(UnsafeBufferPointer(rebasing: scratch[..<count]))
        }
        advance(connection)
    }

    /// Takes up as many requests as can be taken up now.
    private func advance(_ connection: HTTPConnection) {
        while connection.takesRequests {
            do throws(HTTPRequestParser.Failure) {
                guard let request = try connection.parser.next() else {
                    if connection.parser.takeExpectation() {
                        connection.output += "HTTP/1.1 100 Continue\r\n\r\n".utf8
                    }
                    // What is incomplete now stays so.
                    if connection.hasInputEnded { connection.ending = .close }
                    break
                }
                react(to: request, connection)
            } catch {
                let code = HTTPAnswer.reason(error.status).lowercased().replacing(" ", with: "-")
                HTTPAnswer.error(error.status, code, error.message).write(to: &connection.output, closing: true)
                connection.ending = .orderly
            }
        }
        queueFlush(connection)
    }

    private func react(to request: HTTPRequest, _ connection: HTTPConnection) {
        let reaction = shared.handle(request)
        if let effect = reaction.effect, journal != nil {
            journal?.append(
                path: effect.path, body: effect.body, parsed: effect.parsed, fingerprint: effect.fingerprint)
        }
        if !request.keepsAlive { connection.ending = .orderly }
        let isHead = request.method == "HEAD"
        guard reaction.delayMilliseconds > 0 else { return deliver(reaction, isHead: isHead, on: connection) }
        connection.isWaiting = true
        delayed.append(
            Delayed(
                dueMilliseconds: now + Int64(reaction.delayMilliseconds), connection: connection, reaction: reaction,
                isHead: isHead))
    }

    private func deliver(_ reaction: Reaction, isHead: Bool, on connection: HTTPConnection) {
        let closing = connection.ending == .orderly
        switch reaction.delivery {
        case .send: reaction.answer.write(to: &connection.output, closing: closing, withoutBody: isHead)
        case .close: connection.ending = .close
        case .never: connection.isMute = true
        case .stream: beginStream(reaction.answer, on: connection)
        case .reset(let limit):
            var bytes: [UInt8] = []
            reaction.answer.write(to: &bytes, closing: closing)
            connection.output += bytes.prefix(limit)
            connection.ending = .reset
        }
    }

    private func deliverDue() throws(SystemError) {
        guard !delayed.isEmpty else { return }
        let due = delayed.filter { $0.dueMilliseconds <= now }
        guard !due.isEmpty else { return }
        delayed.removeAll { $0.dueMilliseconds <= now }
        for entry in due {
            if let key = entry.reaction.heldKey { shared.release(key) }
            guard let connection = entry.connection else { continue }
            connection.isWaiting = false
            connection.lastActivityMilliseconds = now
            deliver(entry.reaction, isHead: entry.isHead, on: connection)
            advance(connection)
        }
    }
}

// MARK: - Events

extension EventLoop {
    private func beginStream(_ answer: HTTPAnswer, on connection: HTTPConnection) {
        guard feed.streams.count < StreamFeed.maximumStreams else {
            HTTPAnswer.error(503, "too-many-streams", "too many pages are open")
                .write(to: &connection.output, closing: true)
            connection.ending = .orderly
            return
        }
        answer.writeHeadOfStream(to: &connection.output)
        connection.isStreaming = true
        feed.streams.append(connection)
        feed.dueMilliseconds = now
    }

    /// Sends the state to the streams that have not got it as it is, a few times a second at most.
    private func feedStreams() {
        feed.streams.removeAll(where: \.isClosed)
        guard !feed.streams.isEmpty else {
            feed.dueMilliseconds = nil
            return
        }
        let isDue = now >= feed.dueMilliseconds ?? 0
        guard isDue || shared.withService({ $0.version }) != feed.version else { return }
        guard now >= feed.earliestMilliseconds else {
            feed.dueMilliseconds = feed.earliestMilliseconds
            return
        }
        let (version, text) = shared.withService { ($0.version, $0.state.serialized) }
        for stream in feed.streams where !stream.hasOutput || stream.streamedVersion == -1 {
            // A stream that has the state gets a comment, which shows whether anybody is still there.
            stream.output += stream.streamedVersion == version ? ":\n\n".utf8 : "data: \(text)\n\n".utf8
            stream.streamedVersion = version
            queueFlush(stream)
        }
        feed.version = version
        feed.earliestMilliseconds = now + StreamFeed.restMilliseconds
        let isBehind = feed.streams.contains { $0.streamedVersion != version }
        feed.dueMilliseconds = now + (isBehind ? StreamFeed.restMilliseconds : StreamFeed.silenceMilliseconds)
    }
}

// MARK: - Output and ends

extension EventLoop {
    private func queueFlush(_ connection: HTTPConnection) {
        guard !connection.isQueuedForFlush, !connection.isClosed else { return }
        connection.isQueuedForFlush = true
        unflushed.append(connection)
    }

    /// Makes the journal durable, then lets the answers go. Throws `SystemError`; then no answer went out.
    private func flushAll() throws(SystemError) {
        while !unflushed.isEmpty {
            try journal?.sync()
            let batch = unflushed
            unflushed.removeAll(keepingCapacity: true)
            for connection in batch {
                connection.isQueuedForFlush = false
                guard !connection.isClosed else { continue }
                try flush(connection)
            }
        }
    }

    private func flush(_ connection: HTTPConnection) throws(SystemError) {
        let hadOutput = connection.hasOutput
        guard connection.sendOutput() else { return close(connection) }
        if !connection.hasOutput {
            switch connection.ending {
            case .none:
                // A client that stopped reading held up the requests behind its answers.
                if hadOutput, connection.parser.bufferedBytes > 0, connection.takesRequests { advance(connection) }
            case .orderly:
                if !connection.isWaiting, !connection.isMute, !connection.isDraining {
                    if connection.hasInputEnded { return close(connection) }
                    shutdown(connection.descriptor.number, Int32(SHUT_WR))
                    connection.isDraining = true
                    connection.lastActivityMilliseconds = now
                    nextSweepMilliseconds = min(nextSweepMilliseconds, now + Self.drainLimitMilliseconds)
                }
            case .close: return close(connection)
            case .reset:
                connection.prepareReset()
                return close(connection)
            }
        }
        var interest: UInt32 = connection.wantsInput ? EPOLLIN.rawValue : 0
        if connection.hasOutput { interest |= EPOLLOUT.rawValue }
        guard interest != connection.interest else { return }
        connection.interest = interest
        try watch(connection.descriptor.number, interest, EPOLL_CTL_MOD)
    }

    private func close(_ connection: HTTPConnection) {
        guard !connection.isClosed else { return }
        connection.isClosed = true
        for index in delayed.indices where delayed[index].connection === connection {
            delayed[index].connection = nil
        }
        // Removed by hand, because other references may keep the descriptor open for a moment.
        try? watch(connection.descriptor.number, 0, EPOLL_CTL_DEL)
        connections[connection.descriptor.number] = nil
        // The listener was watched before, so that watching it again cannot fail for want of anything.
        if !isAccepting { isAccepting = (try? watch(listener.number, EPOLLIN.rawValue, EPOLL_CTL_MOD)) != nil }
    }

    /// Ends connections on which nothing happens.
    private func sweep() {
        guard now >= nextSweepMilliseconds else { return }
        var next = now + 30_000
        for connection in connections.values where connection.canBeIdle {
            let silence = now - connection.lastActivityMilliseconds
            if connection.isDraining {
                if silence >= Self.drainLimitMilliseconds { close(connection) } else { next = min(next, now + 500) }
            } else if silence >= Self.idleLimitMilliseconds {
                guard connection.parser.isInsideRequest, !connection.hasOutput else {
                    close(connection)
                    continue
                }
                HTTPAnswer.error(408, "request-timeout", "the request was not completed in time")
                    .write(to: &connection.output, closing: true)
                connection.ending = .orderly
                queueFlush(connection)
            }
        }
        nextSweepMilliseconds = next
    }

    private func timeoutMilliseconds() -> Int32 {
        var due = [delayed.map(\.dueMilliseconds).min(), feed.dueMilliseconds].compactMap { $0 }.min()
        if !connections.isEmpty { due = min(due ?? .max, nextSweepMilliseconds) }
        return due.map { Int32(clamping: max(0, $0 - now)) } ?? -1
    }

    private func watch(_ number: Int32, _ events: UInt32, _ operation: Int32) throws(SystemError) {
        var event = epoll_event(events: events, data: epoll_data_t(fd: number))
        guard epoll_ctl(epoll.number, operation, number, &event) == 0 else {
            throw SystemError("watch descriptor \(number)")
        }
    }

    private static func monotonicMilliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
