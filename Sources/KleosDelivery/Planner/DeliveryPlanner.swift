package import KleosModel
package import KleosSupport

/// What the store remembers of an endpoint over restarts.
package struct EndpointMemory: Sendable, Equatable {
    /// The fingerprint of the settings with which it last confirmed something.
    package var confirmedFingerprint: String?
    /// Unix milliseconds.
    package var lastSuccessMilliseconds: Int64?
    /// A pause that an operator asked for.
    package var pause: EndpointHealth.Trouble?

    /// Makes a memory; by default of an endpoint that was never seen.
    package init(
        confirmedFingerprint: String? = nil, lastSuccessMilliseconds: Int64? = nil,
        pause: EndpointHealth.Trouble? = nil
    ) {
        self.confirmedFingerprint = confirmedFingerprint
        self.lastSuccessMilliseconds = lastSuccessMilliseconds
        self.pause = pause
    }
}

/// Decides when which endpoint is sent how many deliveries, and what becomes of each.
///
/// Pure: it reads no clock and does no I/O. Every input returns the actions to perform; the worker performs them.
package struct DeliveryPlanner: Sendable {
    /// A claim of due deliveries.
    package struct Claiming: Sendable, Equatable {
        package var endpoint: String
        package var limit: Int
        package var excludingPlayers: Set<String>
        package var excludingBoards: Set<BoardKey>
    }

    /// Something to do.
    package enum Action: Sendable, Equatable {
        /// Take due deliveries and send them; then call `claimed`.
        case claim(Claiming)
        /// Make deliveries in backoff due now.
        case bringForward(endpoint: String)
        /// Forget connections and addresses.
        case dropConnections
        /// Tell whoever wants to know.
        case announce(EndpointCondition)
    }

    /// What becomes of a delivery, and what follows from it.
    package struct Decision: Sendable, Equatable {
        package var settlement: Settlement
        /// Whether the endpoint confirmed something, which is worth remembering.
        package var isConfirmation: Bool
        package var actions: [Action]
    }

    private var plans: [String: EndpointPlan] = [:]
    private var random: SeededGenerator
    private var isStopping = false
    /// Wall clock less boot clock, as they were when the wall clock was last known to be set.
    private var wallOffsetMilliseconds: Int64?

    /// A change of network or a resume makes probes go out within this time.
    static let probeSpreadMilliseconds: Int64 = 2_000

    /// Makes a planner without endpoints.
    package init(random: SeededGenerator) {
        self.random = random
    }

    /// Takes over the configured endpoints; `memories` holds what the store knows, by name.
    package mutating func configure(
        _ endpoints: [Endpoint], memories: [String: EndpointMemory], now: ClockReading
    ) -> [Action] {
        var changed: [String: EndpointPlan] = [:]
        for endpoint in endpoints {
            let memory = memories[endpoint.name] ?? EndpointMemory()
            if var plan = plans[endpoint.name] {
                plan.reconfigure(endpoint, memory: memory)
                changed[endpoint.name] = plan
            } else {
                changed[endpoint.name] = EndpointPlan(endpoint, memory: memory)
            }
        }
        plans = changed
        wallOffsetMilliseconds = wallOffsetMilliseconds ?? now.wallMilliseconds - now.bootMilliseconds
        return pumpAll(now: now)
    }

    /// Deliveries of these endpoints became ready.
    package mutating func ready(_ names: Set<String>, now: ClockReading) -> [Action] {
        names.sorted().flatMap { name in
            plans[name]?.markReady()
            return pump(name, now: now)
        }
    }

    /// A claim brought `count` deliveries, which are on their way now.
    package mutating func claimed(
        _ claiming: Claiming, count: Int, nextDueMilliseconds: Int64?, now: ClockReading
    ) -> [Action] {
        plans[claiming.endpoint]?.claimed(
            count: count, limit: claiming.limit, nextDueMilliseconds: nextDueMilliseconds)
        return pump(claiming.endpoint, now: now)
    }

    /// A claim failed in the store, which said so in the log.
    package mutating func claimFailed(_ claiming: Claiming, now: ClockReading) -> [Action] {
        plans[claiming.endpoint]?.claimFailed(limit: claiming.limit, now: now)
        return []
    }

    /// A request ended with `verdict`; `sent` is the endpoint as it was configured when the request went out.
    package mutating func finished(
        _ verdict: Verdict, stream: StreamKey, sentTo sent: Endpoint, delivery: SettlementRules.DeliveryFacts,
        notice: NoticeDraft?, now: ClockReading
    ) -> Decision {
        guard var plan = plans[stream.endpoint] else { return orphan(verdict, notice: notice, now: now) }
        let facts = SettlementRules.EndpointFacts(
            endpoint: sent, isConfirmed: plan.isConfirmed && sent.fingerprint == plan.endpoint.fingerprint,
            lastSuccessMilliseconds: plan.health.lastSuccessMilliseconds)
        let settlement = SettlementRules.settlement(
            verdict, delivery: delivery, facts: facts, notice: notice, now: now, random: &random)
        let isNews = plan.finished(verdict, stream: stream, sentTo: sent, now: now, random: &random)
        plans[stream.endpoint] = plan
        var actions: [Action] = []
        if isNews {
            actions.append(.announce(plan.condition(now: now)))
            if plan.pause == nil, plan.health.failure == nil {
                actions.append(.bringForward(endpoint: stream.endpoint))
            }
        }
        return Decision(
            settlement: settlement, isConfirmation: verdict.outcome == .delivered,
            actions: actions + pump(stream.endpoint, now: now))
    }

    /// The endpoint left the configuration while the request was on its way.
    private func orphan(_ verdict: Verdict, notice: NoticeDraft?, now: ClockReading) -> Decision {
        let isConfirmation = verdict.outcome == .delivered || verdict.outcome == .alreadyDone
        return Decision(
            settlement: isConfirmation
                ? .delivered(verdict.confirmation ?? Confirmation(), notice: notice)
                : .retry(dueMilliseconds: now.wallMilliseconds, isServerError: false),
            isConfirmation: false, actions: [])
    }

    /// Time passed.
    package mutating func timerFired(now: ClockReading) -> [Action] {
        pumpAll(now: now)
    }

    /// The machine has another network: connections are stale, and what failed may work.
    package mutating func networkChanged(now: ClockReading) -> [Action] {
        [.dropConnections] + probeFailing(now: now)
    }

    /// The machine slept: connections are stale, and time passed.
    package mutating func resumedFromSuspend(now: ClockReading) -> [Action] {
        [.dropConnections] + probeFailing(now: now) + pumpAll(now: now)
    }

    /// The wall clock was set. Where it went back, due times lie further ahead than anybody meant.
    package mutating func clockChanged(now: ClockReading) -> [Action] {
        let offset = now.wallMilliseconds - now.bootMilliseconds
        defer { wallOffsetMilliseconds = offset }
        guard let last = wallOffsetMilliseconds, offset < last - 1_000 else { return pumpAll(now: now) }
        return plans.keys.sorted().map { .bringForward(endpoint: $0) } + pumpAll(now: now)
    }

    private mutating func probeFailing(now: ClockReading) -> [Action] {
        plans.keys.sorted().flatMap { name -> [Action] in
            guard var plan = plans[name], plan.health.failure != nil else { return [] }
            plan.probeSoon(withinMilliseconds: Self.probeSpreadMilliseconds, now: now, random: &random)
            plans[name] = plan
            return [.bringForward(endpoint: name)]
        }
    }

    /// An operator wants nothing to go to the endpoint.
    package mutating func pause(_ name: String, reason: String, now: ClockReading) -> [Action] {
        plans[name]?.setPause(reason, now: now)
        return plans[name].map { [.announce($0.condition(now: now))] } ?? []
    }

    /// An operator wants deliveries to go to the endpoint again, beginning now.
    package mutating func resume(_ name: String, now: ClockReading) -> [Action] {
        guard var plan = plans[name] else { return [] }
        plan.clearPause(now: now)
        plans[name] = plan
        return [.announce(plan.condition(now: now)), .bringForward(endpoint: name)] + pump(name, now: now)
    }

    /// An operator wants everything tried now; nil means at every endpoint. Pauses and throttles stay in force.
    package mutating func flush(_ name: String?, now: ClockReading) -> [Action] {
        let names = name.map { [$0] } ?? plans.keys.sorted()
        return names.flatMap { name -> [Action] in
            guard var plan = plans[name], plan.pause == nil else { return [] }
            plan.probeSoon(withinMilliseconds: 0, now: now, random: &random)
            plans[name] = plan
            return [.bringForward(endpoint: name)] + pump(name, now: now)
        }
    }

    /// Nothing is claimed from now on.
    package mutating func stop() {
        isStopping = true
    }

    private mutating func pumpAll(now: ClockReading) -> [Action] {
        plans.keys.sorted().flatMap { pump($0, now: now) }
    }

    private mutating func pump(_ name: String, now: ClockReading) -> [Action] {
        guard !isStopping, let claiming = plans[name]?.nextClaim(now: now) else { return [] }
        return [.claim(claiming)]
    }

    /// Milliseconds until `timerFired` is needed; nil where only an event can bring work.
    package func millisecondsUntilWake(now: ClockReading) -> Int64? {
        isStopping ? nil : plans.values.compactMap { $0.millisecondsUntilWake(now: now) }.min()
    }

    /// Whether the endpoint has confirmed something with its present settings.
    package func isConfirmed(_ name: String) -> Bool {
        plans[name]?.isConfirmed ?? false
    }

    /// How the endpoints are doing, by name.
    package func conditions(now: ClockReading) -> [EndpointCondition] {
        plans.keys.sorted().compactMap { plans[$0]?.condition(now: now) }
    }
}
