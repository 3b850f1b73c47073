import Dispatch
import Glibc
package import KleosModel
package import KleosStore
package import KleosSupport
import KleosWire
import Synchronization

/// The daemon's side of its sockets: takes in connections, answers their requests, pushes what they subscribed to.
package actor Server: QueueActor {
    package nonisolated let executor = QueueExecutor(label: "kleos.server")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let store: Store
    let hooks: ServerHooks
    let clock: any Clock
    let log: Log
    let peers: PeerResolver
    let poller: SocketPoller
    let startedMilliseconds: Int64

    var settings: ServerSettings
    var random: SeededGenerator
    var acceptors: [Acceptor] = []
    var door: LoopbackDoor?
    var connections: [UInt64: Connection] = [:]
    var users: [UInt32: UserAccount] = [:]
    var subscribers: Set<UInt64> = [] {
        didSet { hasSubscribers.store(!subscribers.isEmpty, ordering: .releasing) }
    }
    private nonisolated let hasSubscribers = Atomic(false)
    /// What is read from sockets comes here first.
    var readBuffer = [UInt8](repeating: 0, count: readBytes)
    var intake = Intake()
    var ways = RecentWays()
    var dirty: [Connection] = []
    /// Connections whose lines are taken up when it is their turn.
    var waiting = FairQueue<UInt32, UInt64, UInt64>()
    var isTurnScheduled = false
    var noticeClaims: [NoticeClaim] = []
    /// Who plays, by user, as it was told last.
    var playing: [UInt32: [NoticeScope.Players]] = [:]
    private(set) var playersHandler: (@Sendable ([UInt32: [NoticeScope.Players]]) -> Void)?
    var lastNumber: UInt64 = 0
    /// What was spooled and is being recorded, by number.
    var spoolBatches: [UInt64: SpoolBatch] = [:]
    /// How the spool is; nil where there is none.
    var spoolReport: SpoolReport?
    /// Erases a player from the spool; nil where there is none.
    var spoolEraser: (@Sendable (SpoolSubject, @escaping @Sendable (SpoolErasure) -> Void) -> Void)?
    /// Given up for a moment when descriptors run out, so that a client can be told.
    var spareDescriptor: FileDescriptor?
    var isStopped = false

    /// Makes a server; nothing is served before `listen`. Throws `SystemError` where there are no descriptors left.
    package init(
        store: Store, settings: ServerSettings, hooks: ServerHooks, clock: any Clock, log: Log,
        random: SeededGenerator = .unpredictable(), peers: PeerResolver = .kernel
    ) throws(SystemError) {
        poller = try SocketPoller(queue: executor.queue)
        self.store = store
        self.settings = settings
        self.hooks = hooks
        self.clock = clock
        self.log = log
        self.random = random
        self.peers = peers
        startedMilliseconds = clock.read().bootMilliseconds
        spareDescriptor = Self.openSpare()
    }

    static func openSpare() -> FileDescriptor? {
        // Without a spare, clients beyond the limit wait in the backlog in place of being told.
        try? FileDescriptor.open("/dev/null", O_RDONLY)
    }

    /// Begins to serve at these sockets.
    package nonisolated func listen(on listeners: [Listener]) {
        async { server in
            for listener in listeners { server.serve(listener) }
        }
    }

    /// Applies new settings to everything that is asked from now on.
    package nonisolated func configure(_ settings: ServerSettings) {
        async { server in
            server.settings = settings
            server.ways = RecentWays()
            server.playersMayHaveChanged()
            for uid in server.users.keys { server.offerNotices(to: uid) }
        }
    }

    /// Sets what is called, on the server's queue, when other players than before play a game that tells only the one
    /// who plays.
    package func setPlayersHandler(_ handler: @escaping @Sendable ([UInt32: [NoticeScope.Players]]) -> Void) {
        playersHandler = handler
    }

    /// Tells subscribers what a COMMIT changed.
    package nonisolated func publish(_ changes: OutboxChanges) {
        guard !changes.deliveries.isEmpty || !changes.notices.isEmpty || !changes.returnedNotices.isEmpty else {
            return
        }
        // Whoever subscribes later asks the store for what there is after that.
        guard hasSubscribers.load(ordering: .acquiring) else { return }
        async { $0.push(changes) }
    }

    /// Tells subscribers how an endpoint is doing.
    package nonisolated func publish(condition: EndpointCondition) {
        async { $0.push(condition) }
    }

    /// The games that are connected and said so.
    package var presences: [Presence] {
        connections.values.compactMap(\.presence)
    }

    /// Takes no more connections, closes those that there are, unlinks own sockets, and calls `completion` on the
    /// server's queue; may be called twice, and before `listen`.
    package nonisolated func stop(then completion: @escaping @Sendable () -> Void) {
        async { server in
            server.shutDown()
            completion()
        }
    }

    private func shutDown() {
        isStopped = true
        for acceptor in acceptors { acceptor.close() }
        acceptors = []
        door?.close()
        door = nil
        for claim in noticeClaims { claim.timer.cancel() }
        noticeClaims = []
        for connection in Array(connections.values) {
            // What is answered already gets out; the peer sees the end after it.
            flush(connection)
            close(connection)
        }
    }

    /// A number that no connection and no batch has had.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}
