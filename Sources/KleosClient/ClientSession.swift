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

    let candidates: [String]
    private let policy = RetryPolicy(baseMilliseconds: 100, capMilliseconds: 5_000, floorMilliseconds: 20)
    private var random = SeededGenerator.unpredictable()
    var pending: [Int64: PendingRequest] = [:]
    /// Requests in the order in which their time runs out; some of them are answered by then.
    var deadlines: [(id: Int64, nanoseconds: Int64)] = []
    var isExpiryScheduled = false
    var unsent: [Int64] = []
    var onTheirWay: Set<Int64> = []
    private var nextID: Int64 = 1
    var connection: ClientConnection?
    /// The socket of that connection.
    var connectedPath: String?
    private(set) var generation = 0
    private var failures = 0
    private var isWaitingToConnect = false
    var isClosed = false
    private var presence: PresenceParameters?
    private var noticeGame = ""
    private var noticeHandler: (@Sendable (NoticeRow) -> Void)?
    private var openHandler: (@Sendable (OpenMessage) -> Void)?
    private var deliveryHandler: (@Sendable (JSONValue) -> Void)?
    private var idleWaiters: [@Sendable () -> Void] = []
    private var drainCompletions: [@Sendable (Bool) -> Void] = []
    /// When the daemon answered last.
    private(set) var answeredNanoseconds: Int64 = 0
    private(set) var connectedNanoseconds: Int64 = 0
    let clock = SystemClock()
    let requestTimeoutMilliseconds: Int64
    /// What kept the last event that was to be spooled out of the spool.
    var spoolFailure: SpoolError?
    private let spoolFolder: String?

    /// Requests on their way at once; the daemon reads no further than its own limit.
    private static let window = 256
    /// The route under which a game shows notices.
    private static let route = "game"

    /// What is not answered within `requestTimeoutMilliseconds` is spooled, in `spoolFolder` or the daemon's own, or
    /// fails; a connection on which nothing was heard for so long is made anew.
    init(candidates: [String], requestTimeoutMilliseconds: Int64, spoolFolder: String?) {
        self.candidates = candidates
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.spoolFolder = spoolFolder
    }

    /// The spools to try: of the daemon that is silent, or of all that could not be reached.
    var spool: EventSpool {
        if let spoolFolder { return EventSpool(candidates: [spoolFolder]) }
        let sockets = connectedPath.map { [$0] } ?? candidates
        return EventSpool(candidates: KleosSpoolPaths.candidates(sockets: sockets) { Environment[$0] })
    }

    // MARK: - Requests

    func enqueue(
        _ method: Method, _ parameters: JSONObject, isOfConnection: Bool = false, isKept: Bool = false,
        _ completion: @escaping @Sendable (Result<JSONValue, KleosError>) -> Void
    ) {
        enqueue(method, parameters, isOfConnection: isOfConnection, isKept: isKept, submission: nil) { result in
            completion(
                result.flatMap { reply in
                    guard case .answer(let value) = reply else { return .failure(.malformed("a spooled question")) }
                    return .success(value)
                })
        }
    }

    /// Hands an event over, or spools it.
    func submit(
        _ submission: Submission, _ completion: @escaping @Sendable (Result<PendingRequest.Reply, KleosError>) -> Void
    ) {
        enqueue(.submit, submission.parameters, submission: submission, completion)
    }

    private func enqueue(
        _ method: Method, _ parameters: JSONObject, isOfConnection: Bool = false, isKept: Bool = false,
        submission: Submission?, _ completion: @escaping @Sendable (Result<PendingRequest.Reply, KleosError>) -> Void
    ) {
        guard !isClosed else { return completion(.failure(.unanswered("the client is closed"))) }
        let id = nextID
        nextID += 1
        let line = RPCRequest(id: id, method: method.rawValue, parameters: parameters).line
        guard line.count <= Limits.requestBytes else {
            let message = "the request has \(line.count) bytes; at most \(Limits.requestBytes) are allowed"
            return completion(.failure(.refused(reason: ErrorReason.tooLarge.rawValue, message: message, field: nil)))
        }
        pending[id] = PendingRequest(
            line: line, isOfConnection: isOfConnection, isKept: isKept, submission: submission,
            enqueuedNanoseconds: clock.monotonicNanoseconds, completion: completion)
        unsent.append(id)
        limitTime(of: id)
        connect(isUrgent: submission != nil)
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

    func setDeliveryHandler(game: String, _ handler: @escaping @Sendable (JSONValue) -> Void) {
        noticeGame = game
        deliveryHandler = handler
        if connection != nil { subscribe() } else { connect() }
    }

    func setOpenHandler(_ handler: @escaping @Sendable (OpenMessage) -> Void) {
        openHandler = handler
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

    /// Connects to the first daemon that takes a connection. Between two tries it waits, except where that would keep
    /// an event from a daemon that is back.
    private func connect(isUrgent: Bool = false) {
        guard connection == nil, !isClosed, isUrgent || !isWaitingToConnect else { return }
        for path in candidates {
            // The reason is of use to nobody here: the next candidate, or the next try, follows.
            guard let descriptor = try? UnixSocket.connect(to: path, isNonBlocking: true) else { continue }
            connectedPath = path
            return connected(descriptor)
        }
        connectedPath = nil
        spoolAll()
        if !isWaitingToConnect { connectLater() }
    }

    private func connected(_ descriptor: FileDescriptor) {
        generation += 1
        let current = generation
        connectedNanoseconds = clock.monotonicNanoseconds
        do throws(SystemError) {
            connection = try ClientConnection(
                descriptor, queue: executor.queue,
                ready: { [weak self] ready in self?.assumeIsolated { $0.connection?.proceed(ready) } },
                handler: { [weak self] event in self?.assumeIsolated { $0.receive(event, generation: current) } })
        } catch {
            return connectLater()
        }
        // Everything that was not answered goes out again, the oldest first, under the ids that it had.
        pending = pending.filter { !$0.value.isOfConnection }
        unsent = pending.keys.sorted()
        onTheirWay = []
        sendPresence()
        subscribe()
        sendMore()
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

    func disconnected() {
        connection?.close()
        connection = nil
        generation += 1
        if !pending.isEmpty || !topics.isEmpty || presence != nil { connectLater() }
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
            answeredNanoseconds = clock.monotonicNanoseconds
            onTheirWay.remove(id)
            guard let entry = pending[id] else { return }
            if isBackpressure(result, isEvent: entry.submission != nil) { return askAgainLater(id) }
            pending[id] = nil
            entry.completion(result.map(PendingRequest.Reply.answer).mapError(KleosError.init))
            sendMore()
            wakeIdleWaiters()
        case .notification(OpenMessage.method, let parameters):
            if let message = OpenMessage(json: parameters) { openHandler?(message) }
        case .notification(let method, let parameters): told(method, parameters)
        case .failure: disconnected()
        }
    }

    /// The daemon takes nothing at the moment: the event stays here, and is handed over again, or spooled.
    private func isBackpressure(_ result: Result<JSONValue, RPCError>, isEvent: Bool) -> Bool {
        guard case .failure(let error) = result else { return false }
        return [.queueFull, .rateLimited].contains(error.knownReason) || (isEvent && error.knownReason == .unavailable)
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

    // MARK: - Subscriptions

    private var topics: [Topic] {
        (noticeHandler == nil ? [] : [.notices]) + (deliveryHandler == nil ? [] : [.deliveries])
    }

    private func told(_ method: String, _ parameters: JSONValue) {
        switch method {
        case Topic.deliveries.notificationMethod: deliveryHandler?(parameters)
        case Topic.notices.notificationMethod: claimNotices()
        default: break
        }
    }

    private func subscribe() {
        guard !topics.isEmpty else { return }
        let parameters = SubscribeParameters(topics: topics, game: noticeGame)
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
        enqueue(.acknowledgeNotices, shown.parameters, isKept: true) { _ in }
        claimNotices()
    }

    // MARK: - End

    nonisolated func waitUntilIdle(timeoutMilliseconds: Int) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        self.async { $0.whenIdle { semaphore.signal() } }
        return semaphore.wait(timeout: .now() + .milliseconds(timeoutMilliseconds)) == .success
    }

    /// Calls `body` on the session's queue as soon as everything is answered.
    func whenIdle(_ body: @escaping @Sendable () -> Void) {
        idleWaiters.append(body)
        wakeIdleWaiters()
    }

    func wakeIdleWaiters() {
        guard pending.isEmpty else { return }
        let waiters = idleWaiters
        idleWaiters = []
        for waiter in waiters { waiter() }
    }

    /// Closes when everything is answered or the time is over, whichever comes first.
    func close(draining milliseconds: Int64, _ completion: @escaping @Sendable (Bool) -> Void) {
        guard !isClosed else { return completion(pending.isEmpty) }
        drainCompletions.append(completion)
        whenIdle { [weak self] in self?.assumeIsolated { $0.finishDraining() } }
        after(milliseconds: milliseconds) { $0.finishDraining() }
    }

    private func finishDraining() {
        guard !drainCompletions.isEmpty else { return }
        let completions = drainCompletions
        drainCompletions = []
        let isSafe = close()
        for completion in completions { completion(isSafe) }
    }

    /// Ends the connection; events that have no answer are spooled, where there is a spool. Returns whether every event
    /// is safe.
    @discardableResult
    func close() -> Bool {
        if !isClosed { spoolAll() }
        isClosed = true
        connection?.close()
        connection = nil
        generation += 1
        let unanswered = pending.sorted { $0.key < $1.key }.map(\.value)
        pending = [:]
        unsent = []
        for entry in unanswered {
            let why =
                entry.submission == nil ? "" : spoolFailure.map { ", and the event could not be spooled: \($0)" } ?? ""
            entry.completion(.failure(.unanswered("the client was closed\(why)")))
        }
        wakeIdleWaiters()
        return !unanswered.contains { $0.submission != nil }
    }
}
