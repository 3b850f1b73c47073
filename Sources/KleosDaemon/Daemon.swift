import Dispatch
import Glibc
import KleosConfig
import KleosDelivery
import KleosModel
import KleosNotify
import KleosServer
import KleosStore
import KleosSupport
import KleosWire

/// Holds the parts of the daemon together: the only place that knows them all.
///
/// Wake-ups travel back through the closures that it sets: a COMMIT wakes the worker and the router and tells
/// subscribers; a change of an endpoint's condition tells subscribers; requests that concern other parts come in
/// through the server's hooks.
actor Daemon: QueueActor {
    nonisolated let executor = QueueExecutor(label: "kleos.daemon")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let engine: Engine
    let server: Server
    let router: NoticeRouter
    let spool: SpoolIntake
    let clock: any Clock
    let log: Log
    let manager: ServiceManager
    let loader: ConfigurationLoader
    private let listeners: [Listener]
    /// Where games look for the daemon's sockets.
    let socketFolders: [String]
    private let relay: HookRelay
    private(set) var configuration: Configuration
    /// The errors for which the daemon answers questions only, until a reload finds none.
    private let fault: ConfigurationErrors?
    private var signals: SignalHandling?
    private var networkMonitor: NetworkMonitor?
    private var clockMonitor: ClockMonitor?
    /// The files that tell games the token and the port of LoopbackPort=.
    var ticketPaths: [String] = []
    private var timers: [any DispatchSourceTimer] = []
    private var isStopping = false

    /// Settled deliveries are looked through for what may go this often.
    private static let maintenanceSeconds = 3_600

    init(
        store: Store, loader: ConfigurationLoader, configuration: Configuration, fault: ConfigurationErrors?,
        listeners: [Listener], socketFolders: [String], spool: (path: String, mode: UInt32), clock: any Clock, log: Log
    ) throws(SystemError) {
        self.loader = loader
        self.configuration = configuration
        self.fault = fault
        self.listeners = listeners
        self.socketFolders = socketFolders
        self.clock = clock
        self.log = log
        manager = ServiceManager(processID: getpid()) { Environment[$0] }
        let worker = DeliveryWorker(
            store: store, transport: CurlTransport(userAgent: "kleos/\(ProtocolVersion.program)"), clock: clock,
            random: .unpredictable(), log: log)
        engine = Engine(store: store, worker: worker, clock: clock, log: log)
        router = NoticeRouter(
            store: store, settings: configuration.daemon.notices, games: configuration.games, clock: clock, log: log)
        relay = HookRelay()
        var settings = ServerSettings(configuration)
        settings.fault = fault.map { ServerFault(details: $0.description) }
        server = try Server(store: store, settings: settings, hooks: relay.hooks, clock: clock, log: log)
        self.spool = SpoolIntake(path: spool.path, mode: spool.mode, server: server, clock: clock, log: log)
    }

    nonisolated var store: Store { engine.store }
    nonisolated var worker: DeliveryWorker { engine.worker }

    // MARK: - Start

    /// Wires the parts, takes up what an earlier run left, and begins to serve.
    func begin() {
        relay.target = self
        wire()
        if fault == nil { watchMachine() }
        watchSignals { daemon in
            if daemon.fault != nil { return daemon.serveQuestions() }
            daemon.engine.start(daemon.setup) { result in
                self.async { $0.started(result) }
            }
        }
    }

    /// What the engine needs of the configuration.
    private var setup: Engine.Setup {
        Engine.Setup(games: configuration.games, endpoints: configuration.endpoints)
    }

    private func wire() {
        let (server, worker, router) = (server, worker, router)
        store.setFailureHandler { [log] error in
            log(.error, "the queue failed, and nothing is promised any more: \(error)")
            exit(ExitCode(error).rawValue)
        }
        engine.wire { changes in
            if !changes.notices.isEmpty { router.noticesCreated() }
            server.publish(changes)
        }
        server.async { $0.setPlayersHandler { router.playersChanged($0) } }
        worker.async { worker in
            worker.setConditionHandler { server.publish(condition: $0) }
        }
    }

    private func started(_ result: Result<Void, StoreError>) {
        if case .failure(let error) = result {
            log(.error, "what was under way cannot be taken up: \(error)")
            exit(ExitCode(error).rawValue)
        }
        serve()
    }

    private func serve() {
        router.start()
        // Before anybody can ask for an erasure, which looks into the spool too.
        spool.start { [self] in
            self.async { $0.tellReady() }
        }
        server.listen(on: listeners)
        openLoopback()
        startMaintenance()
        startWatchdog()
    }

    private func tellReady() {
        guard !isStopping else { return }
        notify(.ready)
        log(
            .notice, "ready",
            [
                "version": ProtocolVersion.program, "games": "\(configuration.games.count)",
                "endpoints": "\(configuration.endpoints.count)",
            ])
    }

    /// Serves while the configuration has errors: the queue stays as it is, and everybody is told why.
    private func serveQuestions() {
        server.listen(on: listeners)
        startWatchdog()
        notify(.degraded)
    }

    private func watchSignals(then begun: @escaping @Sendable (isolated Daemon) -> Void) {
        signals = SignalHandling([SIGTERM, SIGINT, SIGHUP], queue: executor.queue) { [weak self] number in
            self?.assumeIsolated { daemon in
                if number == SIGHUP { daemon.reload { _ in } } else { daemon.stop(because: "signal \(number)") }
            }
        } begun: {
            self.assumeIsolated { daemon in begun(daemon) }
        }
    }

    private func watchMachine() {
        let worker = worker
        let queue = worker.executor.queue
        do throws(SystemError) {
            networkMonitor = try NetworkMonitor(queue: queue) { worker.assumeIsolated { $0.networkChanged() } }
        } catch {
            log(
                .warning, "changes of the network go unnoticed; failed endpoints are tried by the clock alone: \(error)"
            )
        }
        do throws(SystemError) {
            clockMonitor = try ClockMonitor(clock: clock, queue: queue) { change in
                worker.assumeIsolated { worker in
                    switch change {
                    case .clockSet: worker.clockChanged()
                    case .resumed: worker.resumedFromSuspend()
                    }
                }
            }
        } catch {
            log(.warning, "changes of the clock go unnoticed: \(error)")
        }
    }

    // MARK: - Upkeep

    private func startMaintenance() {
        repeating(everySeconds: Self.maintenanceSeconds, leewaySeconds: 300) { daemon in
            daemon.engine.maintain(daemon.setup)
            daemon.spool.maintain()
        }
        engine.maintain(setup)
    }

    private func startWatchdog() {
        guard let interval = manager.watchdogMilliseconds else { return }
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        let half = DispatchTimeInterval.milliseconds(Int(clamping: interval / 2))
        timer.schedule(deadline: .now() + half, repeating: half)
        timer.setEventHandler { [weak self] in self?.assumeIsolated { $0.proveAlive() } }
        timers.append(timer)
        timer.activate()
    }

    /// Tells the service manager only after every part's own queue, and the loop of the transfers, has answered.
    private func proveAlive() {
        let (server, worker) = (server, worker)
        store.perform { _ throws(StoreError) in
        } then: { [self] _ in
            worker.async { worker in
                worker.check {
                    server.async { _ in
                        self.async { daemon in daemon.notify(.alive) }
                    }
                }
            }
        }
    }

    private func repeating(
        everySeconds seconds: Int, leewaySeconds: Int, _ body: @escaping @Sendable (isolated Daemon) -> Void
    ) {
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        timer.schedule(
            deadline: .now() + .seconds(seconds), repeating: .seconds(seconds), leeway: .seconds(leewaySeconds))
        timer.setEventHandler { [weak self] in self?.assumeIsolated(body) }
        timers.append(timer)
        timer.activate()
    }

    private func notify(_ message: ServiceManager.Message) {
        do throws(SystemError) {
            try manager.tell(message)
        } catch {
            log(.warning, "the service manager cannot be told: \(error)")
        }
    }

    // MARK: - Reload and stop

    /// Reads the configuration again and applies it whole, or leaves everything as it is.
    func reload(then completion: @escaping @Sendable (Result<[String], RPCError>) -> Void) {
        notify(.reloading(monotonicMicroseconds: clock.read().monotonicMilliseconds * 1000))
        let loaded: Configuration
        do throws(ConfigurationErrors) {
            loaded = try loader.load()
        } catch {
            for problem in error.problems { log(.error, problem.description) }
            log(.error, "the new configuration has errors; the old one stays in force")
            notify(.ready)
            return completion(
                .failure(RPCError(.reloadFailed, "\(error)\nThe configuration in force has not changed.")))
        }
        if fault != nil {
            completion(.success([]))
            return stop(because: "the configuration is mended") { [log] in
                let error = StartAnew.run()
                log(.error, "cannot start anew: \(error)")
                exit(ExitCode.unavailable.rawValue)
            }
        }
        let changes = changeLines(to: loaded)
        for change in changes { log(.notice, "reload: \(change)") }
        log(.notice, "reloaded", ["changes": "\(changes.count)"])
        for warning in loaded.warnings { log(.warning, warning.description) }
        configuration = loaded
        server.configure(ServerSettings(loaded))
        router.configure(settings: loaded.daemon.notices, games: loaded.games)
        engine.apply(setup) { [self] in
            self.async { daemon in
                daemon.notify(.ready)
                completion(.success(changes))
            }
        }
    }

    /// What a reload changes, a line each.
    private func changeLines(to loaded: Configuration) -> [String] {
        let lines = loaded.changes(from: configuration).map(\.description)
        let (old, new) = (configuration.daemon, loaded.daemon)
        let isForNextStart =
            old.storage != new.storage || old.logLevel != new.logLevel || old.loopbackPort != new.loopbackPort
        guard isForNextStart else { return lines }
        return lines + ["[Storage], LogLevel= and LoopbackPort= take effect at the next start of the daemon"]
    }

    /// Stops taking requests, records what is in flight, closes the queue, and calls `end`.
    func stop(
        because reason: String, then end: @escaping @Sendable () -> Void = { exit(ExitCode.success.rawValue) }
    ) {
        guard !isStopping else { return }
        isStopping = true
        log(.notice, "stopping: \(reason)")
        if fault == nil { notify(.stopping) }
        for timer in timers { timer.cancel() }
        closeLoopback()
        let (server, worker, router, store, log) = (server, worker, router, store, log)
        spool.stop {
            server.stop {
                worker.async { worker in
                    worker.stop {
                        router.stop {
                            store.close {
                                log(.notice, "stopped")
                                end()
                            }
                        }
                    }
                }
            }
        }
    }
}
