import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport

/// A planner with a manual clock, behind a reference so that expectations may call what changes it.
final class PlannerHarness {
    let clock = ManualClock()
    private(set) var endpoint: Endpoint
    private var planner: DeliveryPlanner
    /// What the last input asked for.
    private(set) var actions: [DeliveryPlanner.Action] = [] {
        didSet { openClaim = claim ?? openClaim }
    }
    /// The claim that was asked for and not yet answered.
    private(set) var openClaim: DeliveryPlanner.Claiming?

    init(
        _ endpoint: Endpoint = Endpoint(name: "home", url: "https://x.example", maximumInFlight: 4),
        isConfirmed: Bool = false, seed: UInt64 = 1
    ) {
        self.endpoint = endpoint
        planner = DeliveryPlanner(random: SeededGenerator(seed: seed))
        let memory = EndpointMemory(confirmedFingerprint: isConfirmed ? endpoint.fingerprint : nil)
        actions = planner.configure([endpoint], memories: ["home": memory], now: clock.read())
        openClaim = claim
    }

    var now: ClockReading { clock.read() }
    /// The claim that the last input asked for.
    var claim: DeliveryPlanner.Claiming? {
        actions.compactMap { if case .claim(let claiming) = $0 { claiming } else { nil } }.first
    }
    var bringsForward: Bool { actions.contains(.bringForward(endpoint: "home")) }
    var condition: EndpointCondition { planner.conditions(now: now)[0] }
    var wait: Int64? { planner.millisecondsUntilWake(now: now) }

    func configure(_ endpoint: Endpoint) {
        self.endpoint = endpoint
        actions = planner.configure([endpoint], memories: [:], now: now)
    }
    func remove() { actions = planner.configure([], memories: [:], now: now) }
    func ready() { actions = planner.ready(["home"], now: now) }
    func fire() { actions = planner.timerFired(now: now) }
    func network() { actions = planner.networkChanged(now: now) }
    func resumeFromSuspend() { actions = planner.resumedFromSuspend(now: now) }
    func clockChanged() { actions = planner.clockChanged(now: now) }
    func pause() { actions = planner.pause("home", reason: "by hand", now: now) }
    func resume() { actions = planner.resume("home", now: now) }
    func flush() { actions = planner.flush(nil, now: now) }
    func stop() { planner.stop() }

    /// Answers a claim.
    func claimed(_ count: Int, of claim: DeliveryPlanner.Claiming, nextDueIn milliseconds: Int64? = nil) {
        openClaim = nil
        actions = planner.claimed(
            claim, count: count, nextDueMilliseconds: milliseconds.map { now.wallMilliseconds + $0 }, now: now)
    }
    func claimFailed(_ claim: DeliveryPlanner.Claiming) {
        openClaim = nil
        actions = planner.claimFailed(claim, now: now)
    }

    /// Answers the open claim, and the one that follows from it, until none is open.
    func settleClaims(_ count: Int = 0) {
        var left = count
        while let claim = openClaim {
            let taken = min(left, claim.limit)
            left -= taken
            claimed(taken, of: claim)
        }
    }

    @discardableResult
    func finished(
        _ result: TransportResult, item: String = "b", player: String = "p", sentTo sent: Endpoint? = nil
    ) -> Settlement {
        let verdict = OutcomeRules.judge(
            result, hadUnansweredAttempt: false, nowMilliseconds: now.wallMilliseconds)
        let decision = planner.finished(
            verdict, stream: stream(item, player: player), sentTo: sent ?? endpoint,
            delivery: SettlementRules.DeliveryFacts(
                backoffAttempts: 0, serverErrors: 0, lastTriedMilliseconds: now.wallMilliseconds),
            notice: nil, now: now)
        actions = decision.actions
        return decision.settlement
    }
}

extension Settlement {
    var isRetry: Bool { if case .retry = self { true } else { false } }
    var isDead: Bool { if case .dead = self { true } else { false } }
}
