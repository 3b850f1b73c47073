package import KleosDelivery
package import KleosModel
package import KleosStore
package import KleosSupport

/// The queue and the worker that empties it, wired together: the daemon without sockets, notices and signals, which
/// is also what a simulation runs.
package struct Engine: Sendable {
    package let store: Store
    package let worker: DeliveryWorker
    private let clock: any Clock
    private let log: Log

    /// What an engine works with: the configured games and endpoints, by id and name.
    package struct Setup: Sendable {
        package var games: [String: Game]
        package var endpoints: [String: Endpoint]

        /// Makes a setup.
        package init(games: [String: Game], endpoints: [String: Endpoint]) {
            self.games = games
            self.endpoints = endpoints
        }

        /// The endpoints at which a delivery in flight may not be sent again unasked.
        var atMostOnceEndpoints: Set<String> {
            Set(endpoints.values.filter { $0.resend == .accumulates && !$0.isAtLeastOnce }.map(\.name))
        }
    }

    /// Holds the parts together; they do nothing until `start`.
    package init(store: Store, worker: DeliveryWorker, clock: any Clock, log: Log) {
        self.store = store
        self.worker = worker
        self.clock = clock
        self.log = log
    }

    /// Wires the parts: `changed` is called on the store's queue after each COMMIT that changed something, before the
    /// answers that waited for it.
    package func wire(changed: @escaping @Sendable (OutboxChanges) -> Void) {
        store.setChangeHandler { [weak worker] changes in
            changed(changes)
            if !changes.readyEndpoints.isEmpty { worker?.async { $0.deliveriesReady(changes.readyEndpoints) } }
        }
    }

    /// Takes up what an earlier run left in flight and begins to deliver, then calls `completion`.
    package func start(_ setup: Setup, then completion: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
        let now = clock.read()
        store.perform { outbox throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: setup.atMostOnceEndpoints, now: now)
        } then: { result in
            switch result {
            case .success(let report):
                tell(report)
                apply(setup) { completion(.success(())) }
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private func tell(_ report: RecoveryReport) {
        if report.held > 0 {
            log(
                .warning,
                "the outbox was restored from a backup; what may have been delivered since, to services where a second "
                    + "send counts twice, is held until it is released", ["held": "\(report.held)"])
        }
        guard report.returned + report.ambiguous + report.clamped > 0 else { return }
        log(
            .notice, "took up what was under way when the daemon ended",
            [
                "returned": "\(report.returned)", "ambiguous": "\(report.ambiguous)", "clamped": "\(report.clamped)",
            ])
    }

    /// Brings worker and queue in line with `setup`, then calls `completion`.
    ///
    /// The worker goes first: what it claims with the earlier setup is in the queue again before that is matched with
    /// the new one, so that nothing stays held for a game that is configured.
    package func apply(_ setup: Setup, then completion: @escaping @Sendable () -> Void) {
        worker.async { worker in
            worker.configure(endpoints: setup.endpoints, games: setup.games) { reconcile(setup, then: completion) }
        }
    }

    private func reconcile(_ setup: Setup, then completion: @escaping @Sendable () -> Void) {
        let now = clock.read()
        let (games, endpoints) = (Set(setup.games.keys), Set(setup.endpoints.keys))
        store.performSteps { outbox throws(StoreError) in
            try outbox.reconcile(games: games, endpoints: endpoints, now: now)
        } then: { [log] result in
            if case .failure(let error) = result {
                log(.error, "the queue cannot be matched with the configuration: \(error)")
            }
            completion()
        }
    }

    /// Ends what is too old for its endpoint and removes what has been visible long enough, in small steps between
    /// other work.
    package func maintain(_ setup: Setup) {
        for endpoint in setup.endpoints.values.sorted(by: { $0.name < $1.name }) where endpoint.whenOlder == .expire {
            if let age = endpoint.maximumAgeMilliseconds { expire(endpoint.name, maximumAgeMilliseconds: age) }
        }
        store.performSteps { [clock] outbox throws(StoreError) in
            try outbox.maintain(now: clock.read())
        } then: { [log] result in
            if case .failure(let error) = result { log(.error, "what may go cannot be removed: \(error)") }
        }
    }

    /// How many deliveries one step looks at for their age.
    private static let expiredPerStep = 200

    private func expire(_ endpoint: String, maximumAgeMilliseconds: Int64, after: DeliveryID? = nil) {
        store.perform { [clock] outbox throws(StoreError) in
            try outbox.expire(
                endpoint: endpoint, maximumAgeMilliseconds: maximumAgeMilliseconds, limit: Self.expiredPerStep,
                after: after, now: clock.read())
        } then: { [self] result in
            switch result {
            case .success(let report):
                if report.expired > 0 {
                    log(
                        .warning, "deliveries are too old for their endpoint; kleos retry sends them all the same",
                        ["endpoint": endpoint, "count": "\(report.expired)"])
                }
                guard let next = report.next else { return }
                expire(endpoint, maximumAgeMilliseconds: maximumAgeMilliseconds, after: next)
            case .failure(let error): log(.error, "what is too old for \(endpoint) cannot be ended: \(error)")
            }
        }
    }
}
