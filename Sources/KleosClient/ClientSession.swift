import Dispatch
import Glibc
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// The engine of a client: what waits for an answer, and the connection that it waits on.
actor ClientSession: QueueActor {
    nonisolated let executor = QueueExecutor(label: "kleos.client")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private struct Pending {
        var line: [UInt8]
        /// Whether a new connection makes it pointless, because it begins with requests of the kind itself.
        var isOfConnection: Bool
        var completion: @Sendable (Result<JSONValue, KleosError>) -> Void
    }

    private let candidates: [String]
    private let policy = RetryPolicy(baseMilliseconds: 100, capMilliseconds: 5_000, floorMilliseconds: 20)
    private var random = SeededGenerator.unpredictable()
    private var pending: [Int64: Pending] = [:]
    private var unsent: [Int64] = []
    private var onTheirWay: Set<Int64> = []
    private var nextID: Int64 = 1
    private var connection: ClientConnection?
    private var generation = 0
    private var failures = 0
    private var isWaitingToConnect = false
    private var isClosed = false
    private var presence: PresenceParameters?
    private var noticeGame = ""
    private var noticeHandler: (@Sendable (NoticeRow) -> Void)?
    private var idleWaiters: [DispatchSemaphore] = []
    private var answersSinceCheck = 0
    private var wasWaitingAtCheck = false
    private let answerTimeoutMilliseconds: Int

    /// Requests on their way at once; the daemon reads no further than its own limit.
    private static let window = 256
    /// The route under which a game shows notices.
    private static let route = "game"

    /// A daemon that owes an answer and gives none for `answerTimeoutMilliseconds`, at most twice that, is given up,
    /// and its connection made anew.
    init(candidates: [String], answerTimeoutMilliseconds: Int) {
        self.candidates = candidates
        self.answerTimeoutMilliseconds = answerTimeoutMilliseconds
    }

    // MARK: - Requests

    func enqueue(
        _ method: Method, _ parameters: JSONObject, isOfConnection: Bool = false,
        _ completion: @escaping @Sendable (Result<JSONValue, KleosError>) -> Void
    ) {
        guard !isClosed else { return completion(.failure(.unanswered("the client is closed"))) }
        let id = nextID
        nextID += 1
        let line = RPCRequest(id: id, method: method.rawValue, parameters: parameters).line
        guard line.count <= Limits.requestBytes else {
            let message = "the request has \(line.count) bytes; at most \(Limits.requestBytes) are allowed"
            return completion(.failure(.refused(reason: ErrorReason.tooLarge.rawValue, message: message, field: nil)))
        }
        pending[id] = Pending(line: line, isOfConnection: isOfConnection, completion: completion)
        unsent.append(id)
        connect()
        sendMore()
    }

    func setPresence(_ parameters: PresenceParameters) {
        presence = parameters
        if connection != nil { sendPresence() } else { connect() }
    }

    func setNoticeHandler(game: String, _ handler: @escaping @Sendable (NoticeRow) -> Void) {
        noticeGame = game
        noticeHandler = handler
        if connection != nil { subscribe() } else { connect() }
    }

    private func sendPresence() {
        guard let presence else { return }
        enqueue(.presence, presence.parameters, isOfConnection: true) { _ in }
    }

    private func sendMore() {
        guard let connection else { return }
        var batch: [UInt8] = []
        var taken = 0
        while taken < unsent.count, onTheirWay.count < Self.window {
            if let entry = pending[unsent[taken]] {
                batch += entry.line
                onTheirWay.insert(unsent[taken])
            }
            taken += 1
        }
        unsent.removeFirst(taken)
        if !batch.isEmpty { connection.write(batch) }
    }

    // MARK: - Connection

    private func connect() {
        guard connection == nil, !isWaitingToConnect, !isClosed else { return }
        for path in candidates {
            // The reason is of use to nobody here: the next candidate, or the next try, follows.
            guard let descriptor = try? UnixSocket.connect(to: path, isNonBlocking: true) else { continue }
            return connected(descriptor)
        }
        connectLater()
    }

    private func connected(_ descriptor: FileDescriptor) {
        generation += 1
        let current = generation
        do throws(SystemError) {
            connection = try ClientConnection(descriptor, queue: executor.queue) { [weak self] event in
                self?.assumeIsolated { $0.receive(event, generation: current) }
            }
        } catch {
            return connectLater()
        }
        // Everything that was not answered goes out again, the oldest first, under the ids that it had.
        pending = pending.filter { !$0.value.isOfConnection }
        unsent = pending.keys.sorted()
        onTheirWay = []
        sendPresence()
        if noticeHandler != nil { subscribe() }
        sendMore()
        watchAnswers(generation: current)
    }

    private func connectLater() {
        failures += 1
        isWaitingToConnect = true
        let delay = policy.delayMilliseconds(attemptsMade: failures, random: &random)
        executor.queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay))) { [weak self] in
            self?.assumeIsolated { session in
                session.isWaitingToConnect = false
                session.connect()
            }
        }
    }

    private func watchAnswers(generation watched: Int) {
        answersSinceCheck = 0
        wasWaitingAtCheck = !onTheirWay.isEmpty
        let deadline = DispatchTime.now() + .milliseconds(answerTimeoutMilliseconds)
        executor.queue.asyncAfter(deadline: deadline) { [weak self] in
            self?.assumeIsolated { $0.checkAnswers(generation: watched) }
        }
    }

    private func checkAnswers(generation watched: Int) {
        guard watched == generation, connection != nil, !isClosed else { return }
        if wasWaitingAtCheck, answersSinceCheck == 0 { return disconnected() }
        watchAnswers(generation: watched)
    }

    private func disconnected() {
        connection?.close()
        connection = nil
        generation += 1
        if !pending.isEmpty || noticeHandler != nil || presence != nil { connectLater() }
    }

    private func receive(_ event: ClientConnection.Event, generation received: Int) {
        guard received == generation else { return }
        switch event {
        case .ended: disconnected()
        case .line(let line):
            // A line that cannot be read belongs to no request; what was not answered is asked again.
            guard let incoming = try? RPCIncoming.parse(line) else { return disconnected() }
            take(incoming)
        }
    }

    private func take(_ incoming: RPCIncoming) {
        switch incoming {
        case .answer(let id, let result):
            failures = 0
            answersSinceCheck += 1
            onTheirWay.remove(id)
            guard let entry = pending[id] else { return }
            if isBackpressure(result) { return askAgainLater(id) }
            pending[id] = nil
            entry.completion(result.mapError(KleosError.init))
            sendMore()
            wakeIdleWaiters()
        case .notification: claimNotices()
        case .failure: disconnected()
        }
    }

    /// The daemon has no room at the moment: the event stays here, and is handed over again.
    private func isBackpressure(_ result: Result<JSONValue, RPCError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return [.queueFull, .rateLimited].contains(error.knownReason)
    }

    private func askAgainLater(_ id: Int64) {
        executor.queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
            self?.assumeIsolated { session in
                guard session.pending[id] != nil, !session.onTheirWay.contains(id), !session.unsent.contains(id)
                else { return }
                session.unsent.append(id)
                session.sendMore()
            }
        }
    }

    // MARK: - Notices

    private func subscribe() {
        let parameters = SubscribeParameters(topics: [.notices], game: noticeGame)
        enqueue(.subscribe, parameters.parameters, isOfConnection: true) { _ in }
        claimNotices()
    }

    private func claimNotices() {
        guard noticeHandler != nil else { return }
        let parameters = ClaimNoticesParameters(route: Self.route, game: noticeGame)
        enqueue(.claimNotices, parameters.parameters, isOfConnection: true) { [weak self] result in
            self?.assumeIsolated { $0.show(result) }
        }
    }

    private func show(_ result: Result<JSONValue, KleosError>) {
        guard case .success(let value) = result, let noticeHandler else { return }
        let notices = NoticesAnswer(json: value).notices
        guard !notices.isEmpty else { return }
        for notice in notices { noticeHandler(notice) }
        let shown = AcknowledgeNoticesParameters(route: Self.route, numbers: notices.map(\.number))
        enqueue(.acknowledgeNotices, shown.parameters) { _ in }
        claimNotices()
    }

    // MARK: - End

    nonisolated func waitUntilIdle(timeoutMilliseconds: Int) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        self.async { $0.addIdleWaiter(semaphore) }
        return semaphore.wait(timeout: .now() + .milliseconds(timeoutMilliseconds)) == .success
    }

    private func addIdleWaiter(_ semaphore: DispatchSemaphore) {
        idleWaiters.append(semaphore)
        wakeIdleWaiters()
    }

    private func wakeIdleWaiters() {
        guard pending.isEmpty else { return }
        for waiter in idleWaiters { waiter.signal() }
        idleWaiters = []
    }

    func close() {
        isClosed = true
        connection?.close()
        connection = nil
        generation += 1
        let unanswered = pending.values
        pending = [:]
        unsent = []
        for entry in unanswered { entry.completion(.failure(.unanswered("the client was closed"))) }
        wakeIdleWaiters()
    }
}
