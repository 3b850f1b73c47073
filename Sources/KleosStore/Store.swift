package import KleosSupport
import Synchronization

/// The actor that owns the database: its queue, its transactions, its group commit.
///
/// What is handed over while one transaction is being synced gathers for the next. No answer is given before the COMMIT
/// of the transaction that it saw.
package actor Store: QueueActor {
    package nonisolated let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A transaction takes no more work after so long, so that nobody waits long for its COMMIT.
    static let workNanoseconds: Int64 = 4_000_000

    /// What other threads hand over.
    private struct Inbox {
        var queue = WorkQueue()
        var isDrainScheduled = false
    }

    private let inbox = Mutex(Inbox())
    let clock: any Clock
    /// The folder of the database.
    package nonisolated let directory: String
    private let log: Log
    private(set) var outbox: Outbox?
    private(set) var failure: StoreError?
    var backup: RunningBackup?
    var isBackupChecked = false
    private var checkpointSize = CheckpointSize()
    private var isReserveWanted = true
    /// When the log last said that the disk is full.
    private var saidFullNanoseconds: Int64?
    private var changeHandler: (@Sendable (OutboxChanges) -> Void)?
    private var failureHandler: (@Sendable (StoreError) -> Void)?

    /// Opens or makes the database in `directory`. Throws `StoreError`; its kind says why: the folder cannot be used,
    /// another process owns the database, a newer kleos or another program wrote it.
    package static func open(
        directory: String, options: StoreOptions, clock: any Clock, log: Log,
        executor: QueueExecutor = QueueExecutor(label: "kleos.store")
    ) throws(StoreError) -> Store {
        try Store(directory: directory, options: options, clock: clock, log: log, executor: executor)
    }

    private init(
        directory: String, options: StoreOptions, clock: any Clock, log: Log, executor: QueueExecutor
    ) throws(StoreError) {
        self.executor = executor
        self.directory = directory
        self.clock = clock
        self.log = log
        let space = Space(directory: directory, options: options, log: log)
        // Recovery may need room on a full disk; the reserve is made again once there is enough.
        space.releaseReserve()
        let database = Database(
            directory: directory, sqliteFileSystem: options.sqliteFileSystem, clock: clock, log: log,
            secret: options.secret)
        let (outbox, isClone): (Outbox, Bool)
        do throws(StoreError) {
            (outbox, isClone) = try Self.begin(try database.open(), options, space, log)
        } catch  where error.kind == .damaged {
            try database.setAside(because: error)
            (outbox, isClone) = try Self.begin(try database.open(), options, space, log)
        }
        space.rememberIdentity()
        self.outbox = outbox
        if isClone {
            log(
                .error, "the outbox came from another machine; what is that one's waits until it is adopted or reset",
                ["path": space.databasePath])
        }
    }

    private static func begin(
        _ connection: Connection, _ options: StoreOptions, _ space: Space, _ log: Log
    ) throws(StoreError) -> (Outbox, isClone: Bool) {
        connection.countLogPages()
        let outbox = try Outbox(database: connection, options: options, space: space, log: log)
        try outbox.begin()
        let isClone = try outbox.checkMachine()
        try outbox.forgetNoticeClaims()
        _ = try outbox.commit()
        return (outbox, isClone)
    }

    /// Runs `work` inside the open transaction and calls `completion` on the store's queue after its COMMIT.
    ///
    /// `work` may run more than once (after a rollback that another's failure caused), so it has no effects but those
    /// on the outbox. `lane` says for whom: users take turns.
    package nonisolated func perform<T: Sendable>(
        lane: WorkLane = .daemon, _ work: @escaping @Sendable (Outbox) throws(StoreError) -> T,
        then completion: @escaping @Sendable (Result<T, StoreError>) -> Void
    ) {
        let item = WorkItem(
            run: { (outbox) throws(StoreError) in
                let result = try work(outbox)
                return { completion(.success(result)) }
            }, fail: { completion(.failure($0)) })
        let isFirst = inbox.withLock { inbox in
            inbox.queue.append(item, lane: lane)
            defer { inbox.isDrainScheduled = true }
            return !inbox.isDrainScheduled
        }
        if isFirst { async { $0.drain() } }
    }

    /// Runs `step` in one transaction after another until it returns false, then calls `completion`; other work goes
    /// on in between.
    package nonisolated func performSteps(
        lane: WorkLane = .daemon, _ step: @escaping @Sendable (Outbox) throws(StoreError) -> Bool,
        then completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        perform(lane: lane, step) { result in
            switch result {
            case .success(true): self.performSteps(lane: lane, step, then: completion)
            case .success(false): completion(.success(()))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Sets what is called on the store's queue after each COMMIT that changed something, before the completions.
    package nonisolated func setChangeHandler(_ handler: @escaping @Sendable (OutboxChanges) -> Void) {
        async { $0.changeHandler = handler }
    }

    /// Sets what is called once when a COMMIT or its sync failed: nothing is answered any more, and the daemon exits.
    package nonisolated func setFailureHandler(_ handler: @escaping @Sendable (StoreError) -> Void) {
        async { store in
            store.failureHandler = handler
            if let failure = store.failure { handler(failure) }
        }
    }

    /// Finishes what was handed over before, closes the database and calls `completion` on the store's queue. Later
    /// work fails with `closed`.
    package nonisolated func close(then completion: @escaping @Sendable () -> Void) {
        async { store in
            store.finish()
            completion()
        }
    }

    /// Forgets what was handed over and never answers it, as the end of the process does.
    package nonisolated func abandon() {
        inbox.withLock { $0.queue = WorkQueue() }
    }

    /// Runs `body` on the store's queue with the outbox, outside any transaction; for tests.
    nonisolated func withOutbox<T: Sendable, E: Error>(_ body: @Sendable (Outbox) throws(E) -> T) throws(E) -> T? {
        try sync { store throws(E) in
            guard let outbox = store.outbox else { return nil }
            return try body(outbox)
        }
    }

    /// Whether a transaction is open; for tests.
    var isInTransaction: Bool? { outbox?.database.isInTransaction }

    private func finish() {
        while failure == nil, outbox != nil, !inbox.withLock({ $0.queue.isEmpty }) { drain() }
        guard let outbox else { return }
        self.outbox = nil
        // A copy in the making uses the connection; its next turn tells that it ended.
        backup?.abandon()
        if failure == nil {
            do throws(StoreError) {
                _ = try outbox.database.checkpoint(.truncate)
            } catch {
                log(.warning, "the log beside the outbox stays until the next start", ["error": error.message])
            }
        }
    }

    private func drain() {
        // After a failure nothing is answered: nobody can say what is on disk.
        guard failure == nil else { return }
        guard let outbox else { return refuseAll() }
        let deadline = clock.monotonicNanoseconds + Self.workNanoseconds
        runTransaction(outbox) { isFirst in
            if !isFirst, clock.monotonicNanoseconds >= deadline { return nil }
            return inbox.withLock { $0.queue.popFirst() }
        }
        guard failure == nil else { return }
        checkpointIfLarge(outbox)
        if isReserveWanted { isReserveWanted = !outbox.space.makeReserve() }
        let hasMore = inbox.withLock { inbox in
            inbox.isDrainScheduled = !inbox.queue.isEmpty
            return inbox.isDrainScheduled
        }
        if hasMore { async { $0.drain() } }
    }

    private func refuseAll() {
        while let item = nextToRefuse() {
            item.fail(StoreError(.closed, operation: "use the outbox", message: "the daemon is stopping"))
        }
    }

    /// Under one lock with the end of draining: what is handed over in between would wait for ever.
    private func nextToRefuse() -> WorkItem? {
        inbox.withLock { inbox in
            let item = inbox.queue.popFirst()
            inbox.isDrainScheduled = item != nil
            return item
        }
    }

    /// Runs what `next` gives in one transaction, then tells the results. If one fails after it changed something, the
    /// transaction is undone and the others run again, each by itself.
    private func runTransaction(_ outbox: Outbox, next: (_ isFirst: Bool) -> WorkItem?) {
        var done: [WorkItem] = []
        var answers: [@Sendable () -> Void] = []
        do throws(StoreError) {
            try outbox.begin()
            while let item = next(done.isEmpty) {
                done.append(item)
                let before = outbox.changeCount
                do throws(StoreError) {
                    answers.append(try item.run(outbox))
                } catch  where error.isOneRequestsOwn && !outbox.hasChanged(since: before) {
                    answers.append { item.fail(error) }
                }
            }
            let changes = try outbox.commit()
            tell(changes, answers)
        } catch {
            handle(error, outbox, done)
        }
    }

    private func tell(_ changes: OutboxChanges, _ answers: [@Sendable () -> Void]) {
        if !changes.isEmpty { changeHandler?(changes) }
        for answer in answers { answer() }
    }

    private func handle(_ error: StoreError, _ outbox: Outbox, _ items: [WorkItem]) {
        do throws(StoreError) {
            // What failed in the middle of a COMMIT may be on disk or not, and a second sync may lie about it.
            if error.kind == .io || error.endsStore { throw error }
            try outbox.rollback()
        } catch {
            return fail(error, outbox)
        }
        if error.kind == .full { makeRoom(outbox, error) }
        for item in items { runAlone(item, outbox, isFull: error.kind == .full) }
    }

    private func runAlone(_ item: WorkItem, _ outbox: Outbox, isFull: Bool) {
        guard failure == nil else { return }
        do throws(StoreError) {
            try outbox.begin()
            if isFull { outbox.space.refuseForNow("the disk is full") }
            let answer = try item.run(outbox)
            tell(try outbox.commit(), [answer])
        } catch {
            do throws(StoreError) {
                if error.kind == .io || error.endsStore { throw error }
                try outbox.rollback()
                item.fail(error)
            } catch {
                fail(error, outbox)
            }
        }
    }

    private func makeRoom(_ outbox: Outbox, _ error: StoreError) {
        let hadReserve = outbox.space.releaseReserve()
        isReserveWanted = true
        let isNews = isFullDiskNews()
        if isNews {
            log(
                .error, "the disk is full; new events are refused, deliveries go on",
                ["error": error.message, "reserve": hadReserve ? "released" : "none"])
        }
        do throws(StoreError) {
            // What is in the database need not stay in the log too, whose room is then used again.
            _ = try outbox.database.checkpoint(.passive)
            outbox.database.logPages.pages = 0
        } catch  where error.kind == .full {
            if isNews {
                log(.warning, "the log beside the outbox cannot be made shorter", ["error": error.message])
            }
        } catch {
            fail(error, outbox)
        }
    }

    /// Whether a full disk is worth a line in the log: once a minute, since whatever is tried meanwhile fails as well.
    private func isFullDiskNews() -> Bool {
        let now = clock.monotonicNanoseconds
        if let last = saidFullNanoseconds, now - last < 60_000_000_000 { return false }
        saidFullNanoseconds = now
        return true
    }

    /// Ends all answering. Also after a failed checkpoint: the next one would succeed without what this one lost.
    func fail(_ error: StoreError, _ outbox: Outbox) {
        failure = error
        abandon()
        if error.kind == .damaged { outbox.space.suspect(error) }
        log(.error, "the outbox cannot be used reliably any more; nothing is answered", ["error": error.message])
        failureHandler?(error)
    }

    private func checkpointIfLarge(_ outbox: Outbox) {
        // Pages of the log that are not in the database yet may need as much room there once more.
        let affordable = Int(clamping: outbox.space.freeBytes() / 4 / Database.pageBytes)
        let limit = min(checkpointSize.pages, max(CheckpointSize.minimumPages, affordable))
        guard outbox.database.logPages.pages >= limit else { return }
        let start = clock.monotonicNanoseconds
        do throws(StoreError) {
            let result = try outbox.database.checkpoint(.passive)
            let milliseconds = Double(clock.monotonicNanoseconds - start) / 1_000_000
            checkpointSize.learn(moved: result.movedPages, milliseconds: milliseconds)
            outbox.database.logPages.pages = 0
        } catch  where error.kind == .full {
            makeRoom(outbox, error)
        } catch {
            fail(error, outbox)
        }
    }
}

extension StoreError {
    /// Whether nothing more can be promised, whoever asks: what is read may be wrong, or is nowhere kept.
    fileprivate var endsStore: Bool { kind == .damaged || kind == .removed }

    /// Whether the others in a transaction can be answered although one failed so.
    fileprivate var isOneRequestsOwn: Bool { kind != .full && !endsStore }
}
