import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport

/// A planner, a store and an endpoint in one thread, with time that jumps from one happening to the next.
struct PlannerSimulation {
    struct Item {
        var stream: StreamKey
        var due: Int64
        var attempts = 0
        var serverErrors = 0
        var lastTried: Int64 = 0
        var isInFlight = false
    }

    enum Happening {
        case claimed(DeliveryPlanner.Claiming)
        case answered(Int)
        case broughtForward
        case ready
    }

    private let clock = ManualClock()
    private let endpoint: Endpoint
    private let isUpAfter: Int64
    private var planner: DeliveryPlanner
    private var random: SeededGenerator
    private var items: [Int: Item] = [:]
    private var agenda: [(at: Int64, happening: Happening)] = []
    private(set) var delivered = 0
    private(set) var dead = 0
    private(set) var wakes = 0
    private(set) var requests = 0
    private(set) var mostInFlight = 0
    /// Wake-ups that led to nothing, one right after the other.
    private(set) var mostIdleWakes = 0

    var unsettled: Int { items.count }
    var limit: Int { endpoint.maximumInFlight }

    init(seed: UInt64, count: Int) {
        random = SeededGenerator(seed: seed)
        planner = DeliveryPlanner(random: SeededGenerator(seed: seed &+ 1))
        let scope = ThrottleScope.allCases.randomElement(using: &random) ?? .endpoint
        endpoint = Endpoint(
            name: "home", url: "https://x.example", throttleScope: scope,
            maximumInFlight: Int.random(in: 1...8, using: &random),
            requestsPerMinute: Bool.random(using: &random) ? Int.random(in: 10...600, using: &random) : nil)
        isUpAfter = clock.read().bootMilliseconds + Int64.random(in: 0...7_200_000, using: &random)
        for number in 0..<count {
            items[number] = Item(
                stream: stream("b\(number % 7)", player: "p\(number)"), due: clock.nowMilliseconds)
        }
    }

    private var now: ClockReading { clock.read() }

    /// Runs until everything is settled, or nothing will ever happen again, or for `steps`.
    mutating func run(steps: Int) {
        perform(planner.configure([endpoint], memories: [:], now: now))
        for _ in 0..<steps where !items.isEmpty {
            guard step() else { return }
        }
    }

    private mutating func step() -> Bool {
        let wake = planner.millisecondsUntilWake(now: now).map { now.bootMilliseconds + $0 }
        let next = agenda.indices.min { agenda[$0].at < agenda[$1].at }
        if let next, agenda[next].at <= wake ?? .max {
            let (at, happening) = agenda.remove(at: next)
            clock.advance(milliseconds: max(0, at - now.bootMilliseconds))
            happen(happening)
            return true
        }
        guard let wake else { return false }
        clock.advance(milliseconds: max(0, wake - now.bootMilliseconds))
        wakes += 1
        let actions = planner.timerFired(now: now)
        idleWakes = actions.isEmpty ? idleWakes + 1 : 0
        mostIdleWakes = max(mostIdleWakes, idleWakes)
        perform(actions)
        return true
    }
    private var idleWakes = 0

    private mutating func perform(_ actions: [DeliveryPlanner.Action]) {
        for action in actions {
            switch action {
            case .claim(let claiming): later(0...20, .claimed(claiming))
            case .bringForward: later(0...20, .broughtForward)
            case .dropConnections, .announce: break
            }
        }
    }

    private mutating func later(_ range: ClosedRange<Int64>, _ happening: Happening) {
        agenda.append((now.bootMilliseconds + Int64.random(in: range, using: &random), happening))
    }

    private mutating func happen(_ happening: Happening) {
        switch happening {
        case .claimed(let claiming): claim(claiming)
        case .answered(let number): finish(number)
        case .ready: perform(planner.ready(["home"], now: now))
        case .broughtForward:
            let wall = now.wallMilliseconds
            for (number, item) in items { items[number]?.due = min(item.due, wall) }
            perform(planner.ready(["home"], now: now))
        }
    }

    private mutating func claim(_ claiming: DeliveryPlanner.Claiming) {
        if Int.random(in: 0..<50, using: &random) == 0 { return perform(planner.claimFailed(claiming, now: now)) }
        let open = items.filter { _, item in
            !item.isInFlight && !claiming.excludingPlayers.contains(item.stream.player)
                && !claiming.excludingItems.contains(item.stream.item)
        }.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
        let due = open.prefix { $0.value.due <= now.wallMilliseconds }.prefix(claiming.limit)
        for (number, _) in due {
            items[number]?.isInFlight = true
            requests += 1
            later(1...30_000, .answered(number))
        }
        mostInFlight = max(mostInFlight, items.values.count { $0.isInFlight })
        perform(
            planner.claimed(
                claiming, count: due.count, nextDueMilliseconds: open.dropFirst(due.count).first?.value.due, now: now))
    }

    private mutating func finish(_ number: Int) {
        guard var item = items[number] else { return }
        let verdict = OutcomeRules.judge(
            result(), hadUnansweredAttempt: false, nowMilliseconds: now.wallMilliseconds)
        let decision = planner.finished(
            verdict, stream: item.stream, sentTo: endpoint,
            delivery: SettlementRules.DeliveryFacts(
                backoffAttempts: item.attempts, serverErrors: item.serverErrors,
                lastTriedMilliseconds: item.lastTried),
            notice: nil, now: now)
        item.attempts += 1
        item.isInFlight = false
        item.lastTried = now.wallMilliseconds
        items[number] = item
        switch decision.settlement {
        case .delivered:
            delivered += 1
            items[number] = nil
        case .dead:
            dead += 1
            items[number] = nil
        case .retry(let due, let isServerError):
            items[number]?.due = due
            if isServerError { items[number]?.serverErrors += 1 }
        }
        perform(decision.actions)
        // The store tells of every change of what is due.
        later(0...20, .ready)
    }

    private mutating func result() -> TransportResult {
        guard now.bootMilliseconds >= isUpAfter else {
            return Bool.random(using: &random) ? failure(.refused) : answer(200, "<html>Log in</html>")
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return failure(.timeout, didSend: true)
        case 1: return answer(500)
        case 2: return answer(429, retryAfter: "\(Int.random(in: 0...60, using: &random))")
        case 3: return answer(429)
        case 4: return answer(409)
        case 5: return answer(503, retryAfter: "3")
        default: return answer(200, accepted)
        }
    }
}
