package import KleosModel
package import KleosStore
package import KleosSupport

/// Performs what the planner decides: claims deliveries, sends them, settles them.
///
/// It lives on its own queue. Its methods are entered with `async`; none of them waits.
package actor DeliveryWorker: QueueActor {
    package nonisolated let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let store: Store
    let transport: any Transport
    let clock: any Clock
    let log: Log
    var planner: DeliveryPlanner
    var targets = Targets(endpoints: [:], games: [:])
    /// What is in flight, by the numbers of the requests.
    var flights: [Int: Parcel] = [:]
    var requestsSent = 0
    var unsettled = 0
    var claimsUnderWay = 0
    private(set) var isStopping = false
    /// How many configurations there were; a later one takes the place of one that is still asked about.
    private var configurations = 0
    private var timer: (any WakeTimer)?
    private var conditionHandler: (@Sendable (EndpointCondition) -> Void)?
    private var stopHandler: (@Sendable () -> Void)?
    /// When a success was last written down, per endpoint and settings, on the boot clock.
    var recordedSuccess: [String: Int64] = [:]

    /// Where deliveries go and what they are rendered with; a value, so that it can be used inside a transaction.
    struct Targets: Sendable {
        var endpoints: [String: Endpoint]
        var games: [String: Game]
        var routes: [String: EndpointRoutes]

        init(endpoints: [String: Endpoint], games: [String: Game]) {
            self.endpoints = endpoints
            self.games = games
            routes = endpoints.mapValues(EndpointRoutes.init)
        }
    }

    /// Makes a worker that does nothing until it is configured.
    package init(
        store: Store, transport: any Transport, clock: any Clock, random: SeededGenerator, log: Log,
        executor: QueueExecutor = QueueExecutor(label: "kleos.delivery")
    ) {
        self.executor = executor
        self.store = store
        self.transport = transport
        self.clock = clock
        self.log = log
        planner = DeliveryPlanner(random: random)
        transport.setEndHandler { [weak self] ends in self?.async { $0.ended(ends) } }
    }

    /// Takes over endpoints and games, with what the store remembers of the endpoints, and calls `completion` on the
    /// worker's queue. Where the store cannot tell, what was configured before stays in force, and it is asked again
    /// until it can.
    package func configure(
        endpoints: [String: Endpoint], games: [String: Game], then completion: @escaping @Sendable () -> Void
    ) {
        configurations += 1
        remember(Targets(endpoints: endpoints, games: games), configuration: configurations, then: completion)
    }

    private func remember(
        _ targets: Targets, configuration: Int, failures: Int = 0, then completion: @escaping @Sendable () -> Void = {}
    ) {
        store.perform { outbox throws(StoreError) in
            try Self.memories(of: targets.endpoints.keys.sorted(), in: outbox)
        } then: { [self] result in
            self.async { worker in
                switch result {
                case .success(let memories): worker.takeOver(targets, memories)
                case .failure(let error):
                    worker.log(.error, "the endpoints' records cannot be read, trying again: \(error)")
                    worker.rememberLater(targets, configuration: configuration, failures: failures + 1)
                }
                completion()
            }
        }
    }

    private func rememberLater(_ targets: Targets, configuration: Int, failures: Int) {
        after(milliseconds: StoreRetry.milliseconds(failures)) { worker in
            guard configuration == worker.configurations, !worker.isStopping else { return }
            worker.remember(targets, configuration: configuration, failures: failures)
        }
    }

    private static func memories(
        of names: [String], in outbox: Outbox
    ) throws(StoreError) -> [String: EndpointMemory] {
        var memories: [String: EndpointMemory] = [:]
        for name in names {
            let record = try outbox.endpointRecord(name)
            let pause = record.pausedReason.map {
                EndpointHealth.Trouble(pause: $0, sinceMilliseconds: record.pausedSinceMilliseconds ?? 0)
            }
            memories[name] = EndpointMemory(
                confirmedFingerprint: record.confirmedFingerprint,
                lastSuccessMilliseconds: record.lastSuccessMilliseconds, pause: pause)
        }
        return memories
    }

    private func takeOver(_ targets: Targets, _ memories: [String: EndpointMemory]) {
        self.targets = targets
        let endpoints = targets.endpoints.values.sorted { $0.name < $1.name }
        perform(planner.configure(endpoints, memories: memories, now: clock.read()))
    }

    /// Sets what is called on the worker's queue when an endpoint's condition changes.
    package func setConditionHandler(_ handler: @escaping @Sendable (EndpointCondition) -> Void) {
        conditionHandler = handler
    }

    /// Deliveries of these endpoints became ready.
    package func deliveriesReady(_ endpoints: Set<String>) {
        perform(planner.ready(endpoints, now: clock.read()))
    }

    /// The machine's network changed.
    package func networkChanged() {
        log(.debug, "the network changed")
        perform(planner.networkChanged(now: clock.read()))
    }

    /// The machine came back from suspend.
    package func resumedFromSuspend() {
        log(.info, "the machine was suspended and goes on")
        perform(planner.resumedFromSuspend(now: clock.read()))
    }

    /// The wall clock was set.
    package func clockChanged() {
        log(.info, "the wall clock was set")
        perform(planner.clockChanged(now: clock.read()))
    }

    /// Sends nothing more to `endpoint`; the store remembers it over restarts.
    package func pause(_ endpoint: String, reason: String, then completion: @escaping @Sendable (StoreError?) -> Void) {
        let now = clock.read()
        perform(planner.pause(endpoint, reason: reason, now: now))
        store.perform { outbox throws(StoreError) in
            try outbox.setPause(endpoint: endpoint, reason: reason, nowMilliseconds: now.wallMilliseconds)
        } then: {
            completion($0.failure)
        }
    }

    /// Sends to `endpoint` again, beginning now.
    package func resume(_ endpoint: String, then completion: @escaping @Sendable (StoreError?) -> Void) {
        store.perform { outbox throws(StoreError) in
            try outbox.clearPause(endpoint: endpoint)
        } then: { [self] result in
            self.async { worker in
                if result.failure == nil { worker.perform(worker.planner.resume(endpoint, now: worker.clock.read())) }
                completion(result.failure)
            }
        }
    }

    /// Tries everything now, at one endpoint or at all.
    package func flush(_ endpoint: String?) {
        perform(planner.flush(endpoint, now: clock.read()))
    }

    /// How the endpoints are doing, by name.
    package func conditions() -> [EndpointCondition] {
        planner.conditions(now: clock.read())
    }

    /// Calls `completion`, on any thread, when the loop that carries the requests comes round.
    package func check(_ completion: @escaping @Sendable () -> Void) {
        transport.check(completion)
    }

    /// Ends what is in flight, records it as interrupted, and then calls `completion` on the worker's queue.
    package func stop(then completion: @escaping @Sendable () -> Void) {
        isStopping = true
        planner.stop()
        timer?.cancel()
        timer = nil
        stopHandler = completion
        transport.cancelAll()
        finishStop()
    }

    func finishStop() {
        guard flights.isEmpty, unsettled == 0, claimsUnderWay == 0, let handler = stopHandler else { return }
        stopHandler = nil
        handler()
    }

    // MARK: - Actions

    func perform(_ actions: [DeliveryPlanner.Action]) {
        for action in actions {
            switch action {
            case .claim(let claiming): claim(claiming)
            case .bringForward(let endpoint): bringForward(endpoint)
            case .dropConnections: transport.dropConnections()
            case .announce(let condition): announce(condition)
            }
        }
        armTimer()
    }

    private func announce(_ condition: EndpointCondition) {
        switch condition.kind {
        case .up: log(.notice, "endpoint \(condition.name) is up")
        case .failing:
            log(.warning, "endpoint \(condition.name) is failing: \(condition.reason ?? "")", ["url": condition.url])
        case .paused:
            log(.warning, "endpoint \(condition.name) is paused: \(condition.reason ?? "")", ["url": condition.url])
        }
        conditionHandler?(condition)
    }

    private func bringForward(_ endpoint: String) {
        let now = clock.read().wallMilliseconds
        store.performSteps { outbox throws(StoreError) in
            try outbox.bringForward(endpoint: endpoint, nowMilliseconds: now)
        } then: { [self] result in
            self.async { worker in
                if let error = result.failure {
                    worker.log(.error, "deliveries of \(endpoint) cannot be brought forward: \(error)")
                }
                worker.deliveriesReady([endpoint])
            }
        }
    }

    private func armTimer() {
        guard let wait = planner.millisecondsUntilWake(now: clock.read()), !isStopping else {
            timer?.schedule(milliseconds: nil, leewayMilliseconds: 0)
            return
        }
        // A tenth of the wait is no loss for anybody and lets the machine put wake-ups together.
        (timer ?? makeTimer()).schedule(milliseconds: wait, leewayMilliseconds: min(wait / 10, 1_000))
    }

    private func makeTimer() -> any WakeTimer {
        let made = executor.serial.makeTimer { [weak self] in
            self?.assumeIsolated { worker in
                worker.perform(worker.planner.timerFired(now: worker.clock.read()))
            }
        }
        timer = made
        return made
    }
}

extension Result {
    /// The error, where it is one.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
