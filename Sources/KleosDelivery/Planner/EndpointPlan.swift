import KleosModel
import KleosSupport

/// When deliveries go to one endpoint, and how many. Pure.
struct EndpointPlan: Sendable {
    private(set) var endpoint: Endpoint
    private(set) var health: EndpointHealth
    /// Why nothing goes out until somebody resumes it; nil while it is not paused.
    private(set) var pause: EndpointHealth.Trouble?
    private(set) var isConfirmed: Bool
    private(set) var inFlight = 0
    private var throttles = Throttles()
    /// How often in a row the endpoint asked for rest; further apart each time where it does not say for how long.
    private var throttledInARow = 0
    private var budget: RequestBudget?
    private var isClaiming = false
    /// Claims in a row that failed in the store.
    private var failedClaims = 0
    /// Whether there may be deliveries that are due.
    private var mayHaveDue = true
    /// When the next delivery is due, Unix milliseconds, as the last claim left it.
    private var nextDueMilliseconds: Int64?

    init(_ endpoint: Endpoint, memory: EndpointMemory) {
        self.endpoint = endpoint
        health = EndpointHealth(lastSuccessMilliseconds: memory.lastSuccessMilliseconds)
        isConfirmed = memory.confirmedFingerprint == endpoint.fingerprint
        pause = memory.pause
        budget = Self.budget(of: endpoint)
    }

    private static func budget(of endpoint: Endpoint) -> RequestBudget? {
        endpoint.requestsPerMinute.map { RequestBudget(perMinute: $0, burst: endpoint.maximumInFlight) }
    }

    /// Takes over changed settings: what was learned with the old ones counts no longer.
    mutating func reconfigure(_ changed: Endpoint, memory: EndpointMemory) {
        guard changed != endpoint else { return }
        endpoint = changed
        health = EndpointHealth(lastSuccessMilliseconds: health.lastSuccessMilliseconds)
        isConfirmed = memory.confirmedFingerprint == changed.fingerprint
        pause = memory.pause
        budget = Self.budget(of: changed)
        throttles = Throttles()
        throttledInARow = 0
        mayHaveDue = true
    }

    mutating func markReady() {
        mayHaveDue = true
    }

    mutating func setPause(_ reason: String, now: ClockReading) {
        pause = EndpointHealth.Trouble(pause: reason, sinceMilliseconds: now.wallMilliseconds)
    }

    /// Ends a pause; what led to it is forgotten, so that the next delivery goes out at once.
    mutating func clearPause(now: ClockReading) {
        pause = nil
        health = EndpointHealth(lastSuccessMilliseconds: health.lastSuccessMilliseconds)
        mayHaveDue = true
    }

    /// Asks for the next probe at once, spread over `withinMilliseconds`; a throttle stays in force.
    mutating func probeSoon(withinMilliseconds: Int64, now: ClockReading, random: inout SeededGenerator) {
        health.probeSoon(withinMilliseconds: withinMilliseconds, now: now, random: &random)
        mayHaveDue = true
    }

    /// The claim to make now; nil where none may be made. The caller makes it and then calls `claimed`.
    mutating func nextClaim(now: ClockReading) -> DeliveryPlanner.Claiming? {
        // The claims made meanwhile left out whoever was throttled, and their due times with them.
        if throttles.prune(now: now) { mayHaveDue = true }
        guard pause == nil, !isClaiming, hasDue(now: now) else { return nil }
        guard throttles.endpointUntilBootMilliseconds <= now.bootMilliseconds else { return nil }
        var limit = endpoint.maximumInFlight - inFlight
        if health.failure != nil {
            guard inFlight == 0, health.mayProbe(now: now) else { return nil }
            limit = 1
        }
        if let available = budget?.available(now: now) { limit = min(limit, available) }
        guard limit > 0 else { return nil }
        budget?.take(limit)
        if health.failure != nil { health.probeBegan() }
        isClaiming = true
        mayHaveDue = false
        return DeliveryPlanner.Claiming(
            endpoint: endpoint.name, limit: limit, excludingPlayers: throttles.excludedPlayers(now: now),
            excludingBoards: throttles.excludedBoards(now: now))
    }

    private func hasDue(now: ClockReading) -> Bool {
        mayHaveDue || nextDueMilliseconds.map { $0 <= now.wallMilliseconds } ?? false
    }

    /// A claim came back with `count` deliveries to send.
    mutating func claimed(count: Int, limit: Int, nextDueMilliseconds: Int64?) {
        isClaiming = false
        failedClaims = 0
        inFlight += count
        budget?.giveBack(limit - count)
        self.nextDueMilliseconds = nextDueMilliseconds
        if count == limit { mayHaveDue = true }
        if count == 0 { health.probeEnded() }
    }

    /// A claim failed in the store; it is made again after a second, and further and further apart up to a minute.
    mutating func claimFailed(limit: Int, now: ClockReading) {
        let failures = failedClaims + 1
        claimed(
            count: 0, limit: limit, nextDueMilliseconds: now.wallMilliseconds + StoreRetry.milliseconds(failures))
        failedClaims = failures
    }

    /// A request ended; returns whether the endpoint's condition changed.
    mutating func finished(
        _ verdict: Verdict, stream: StreamKey, sentTo sent: Endpoint, now: ClockReading,
        random: inout SeededGenerator
    ) -> Bool {
        // An endpoint that left the configuration and came back does not know what was in flight before.
        inFlight = max(0, inFlight - 1)
        // What was sent with other settings says nothing about the present ones.
        guard sent == endpoint else { return false }
        let message = verdict.message ?? "no reason given"
        if verdict.outcome == .throttled { throttle(verdict, stream: stream, now: now, random: &random) }
        switch verdict.endpointEffect {
        case .healthy:
            let isConfirmation = verdict.outcome == .delivered
            if isConfirmation { isConfirmed = true }
            throttledInARow = 0
            return health.succeeded(isConfirmation: isConfirmation, now: now)
        case .failing:
            return health.failed(
                message, cause: verdict.cause ?? .unexpectedAnswer, policy: endpoint.retry, now: now, random: &random)
        case .serverError:
            return health.serverError(message, stream: stream, policy: endpoint.retry, now: now, random: &random)
        case .rejecting where !isConfirmed:
            guard health.refused(message, stream: stream), pause == nil else { return false }
            setPause(
                TroubleCause.reason(
                    .rejecting,
                    "\(message) for \(EndpointHealth.rejectingStreams) different streams, and nothing was "
                        + "ever confirmed; check URL=, then run: kleos resume \(endpoint.name)"), now: now)
            return true
        case .none where verdict.outcome == .credentials:
            guard pause == nil else { return false }
            setPause(
                TroubleCause.reason(
                    .credentials,
                    "\(message); correct the token, then run: kleos reload, and: kleos resume \(endpoint.name)"),
                now: now)
            return true
        case .none, .rejecting:
            health.probeEnded()
            return false
        }
    }

    private mutating func throttle(
        _ verdict: Verdict, stream: StreamKey, now: ClockReading, random: inout SeededGenerator
    ) {
        // Answers to what was in flight together are one wish.
        if throttles.endpointUntilBootMilliseconds <= now.bootMilliseconds { throttledInARow += 1 }
        let rounds = endpoint.throttleScope == .endpoint ? throttledInARow : 1
        let delay =
            verdict.retryAfterMilliseconds.map {
                endpoint.retry.delayMilliseconds(retryAfterMilliseconds: $0, random: &random)
            } ?? endpoint.retry.delayMilliseconds(attemptsMade: rounds, random: &random)
        throttles.add(milliseconds: delay, scope: endpoint.throttleScope, stream: stream, now: now)
    }

    /// Milliseconds until something may have to be done; nil where only an event can change that.
    func millisecondsUntilWake(now: ClockReading) -> Int64? {
        guard pause == nil, !isClaiming else { return nil }
        var waits: [Int64] = []
        if mayHaveDue { waits.append(0) }
        if let due = nextDueMilliseconds { waits.append(due - now.wallMilliseconds) }
        if let end = throttles.nextEndBootMilliseconds { waits.append(end - now.bootMilliseconds) }
        guard var wait = waits.min() else { return nil }
        wait = max(wait, throttles.endpointUntilBootMilliseconds - now.bootMilliseconds)
        if health.failure != nil {
            guard inFlight == 0 else { return nil }
            wait = max(wait, health.nextProbeBootMilliseconds - now.bootMilliseconds)
        } else if inFlight >= endpoint.maximumInFlight {
            return nil
        }
        if let budget { wait = max(wait, budget.millisecondsUntilNext(now: now)) }
        return max(0, wait)
    }

    func condition(now: ClockReading) -> EndpointCondition {
        let trouble = pause ?? health.failure
        let kind: EndpointCondition.Kind = pause != nil ? .paused : health.failure != nil ? .failing : .up
        let throttle = throttles.endpointUntilBootMilliseconds
        let probe = kind == .failing ? max(health.nextProbeBootMilliseconds, throttle) : nil
        return EndpointCondition(
            name: endpoint.name, url: endpoint.url, kind: kind, cause: trouble?.cause, reason: trouble?.reason,
            sinceMilliseconds: trouble?.sinceMilliseconds, lastSuccessMilliseconds: health.lastSuccessMilliseconds,
            lastError: health.lastError,
            nextProbeMilliseconds: probe.map { now.wallMilliseconds + max(0, $0 - now.bootMilliseconds) },
            throttledUntilMilliseconds: throttle > now.bootMilliseconds
                ? now.wallMilliseconds + throttle - now.bootMilliseconds : nil,
            partialThrottles: throttles.partial(now: now), inFlight: inFlight)
    }
}
