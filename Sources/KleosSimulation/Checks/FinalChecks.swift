import KleosDaemon
import KleosModel
import KleosStore

/// What must hold once the faults are over and the machine had time: everything has ended, and as it should.
struct FinalChecks {
    private let world: World

    init(_ world: World) {
        self.world = world
    }

    /// Checks it all.
    func run() {
        for key in world.ledger.keys { checkPromise(key) }
        for service in world.services {
            checkEffects(service)
            checkStandings(service)
            checkOrder(service)
        }
        checkNotices()
        checkTimers()
    }

    private func fact(_ key: EventKey, _ endpoint: String) -> Ledger.Fact? {
        world.ledger.facts[Ledger.Way(key: key, endpoint: endpoint)]
    }

    // MARK: - Every promise was kept

    private func checkPromise(_ key: EventKey) {
        guard let promise = world.ledger.promises[key] else { return }
        for way in promise.fanOut {
            guard let fact = fact(key, way.endpoint) else { continue }
            switch fact.state {
            case .waiting, .ready, .sending, .held:
                world.violate("\(key) to \(way.endpoint) is still \(fact.state.rawValue): it starves")
            case .delivered: checkDelivered(key, way.endpoint)
            case .superseded: checkSuperseded(fact, way)
            case .dead: checkDead(key, fact, promise, way.endpoint)
            case .discarded:
                if !world.ledger.discarded.contains(key) {
                    world.violate("\(key) to \(way.endpoint) was discarded, which nobody asked for")
                }
            }
        }
    }

    private func checkDelivered(_ key: EventKey, _ endpoint: String) {
        guard let service = world.services.first(where: { $0.name == endpoint }) else { return }
        if service.book.effects[key.description] == nil {
            world.violate("\(key) is delivered to \(endpoint), which never took it")
        }
    }

    private func checkSuperseded(_ fact: Ledger.Fact, _ way: FanOut) {
        if way.merge == .none { world.violate("\(fact.record.key) was superseded, though each of its kind counts") }
        guard let better = fact.supersededBy, let state = self.fact(better, way.endpoint)?.state else { return }
        if state != .delivered && state != .superseded {
            world.violate("\(fact.record.key) gave way to \(better), which ended \(state.rawValue)")
        }
    }

    private func checkDead(_ key: EventKey, _ fact: Ledger.Fact, _ promise: Ledger.Promise, _ name: String) {
        guard let service = world.services.first(where: { $0.name == name }),
            let endpoint = world.configuration.whole.endpoints[name]
        else { return }
        let text = key.description
        let isRight: Bool
        switch fact.reason {
        case .rejected: isRight = service.refusals.contains(text)
        case .ambiguous: isRight = service.resend == .accumulates && !endpoint.isAtLeastOnce
        case .serverErrors: isRight = service.serverErrors[text, default: 0] >= endpoint.maximumServerErrors
        case .expired:
            let age = world.clock.trueMilliseconds - promise.acknowledgedMilliseconds
            isRight = endpoint.whenOlder == .expire && endpoint.maximumAgeMilliseconds.map { age > $0 } ?? false
        default: isRight = false
        }
        if !isRight {
            world.violate("\(key) to \(name) is dead for no good reason: \(fact.reason?.rawValue ?? "none")")
        }
    }

    // MARK: - What the services hold

    private func checkEffects(_ service: SimulatedService) {
        let isOnce = service.resend == .keyed || service.resend == .accumulates
        let isAtLeastOnce = world.configuration.whole.endpoints[service.name]?.isAtLeastOnce ?? false
        for (text, effect) in service.book.effects.sorted(by: { $0.key < $1.key }) {
            guard let key = EventKey(text), world.submitted.contains(key) else {
                world.violate("\(service.name) took \(text), which nobody submitted")
                continue
            }
            guard isOnce, effect.count > 1, !isAtLeastOnce, !world.ledger.retried.contains(key) else { continue }
            world.violate("\(text) took effect \(effect.count) times at \(service.name)")
        }
    }

    /// The true best, or the latest, of what was not given up is what each board shows.
    private func checkStandings(_ service: SimulatedService) {
        var streams: [String: [Ledger.Fact]] = [:]
        for fact in world.ledger.facts.values where fact.record.endpoint == service.name {
            if fact.state == .delivered || fact.state == .superseded {
                streams[fact.record.streamName, default: []].append(fact)
            }
        }
        for (stream, facts) in streams.sorted(by: { $0.key < $1.key }) {
            guard let shown = service.book.standing[stream] else {
                world.violate("\(service.name) has nothing of \(stream), where something is delivered")
                continue
            }
            switch shown.keep {
            case "best": checkBest(facts, shown, service.name)
            case "latest" where !world.ledger.handled.contains(stream): checkLatest(facts, shown, service)
            default: break
            }
        }
    }

    private func checkBest(_ facts: [Ledger.Fact], _ shown: ServiceBook.Arrival, _ name: String) {
        for fact in facts {
            guard let (measure, amount) = Self.amount(fact.record.subject), measure == shown.measure else { continue }
            if !shown.isAtLeast(amount) {
                world.violate(
                    "\(name) shows \(shown.amount) for \(shown.stream); \(fact.record.key) with \(amount) is better "
                        + "and ended \(fact.state.rawValue)")
            }
        }
    }

    private func checkLatest(_ facts: [Ledger.Fact], _ shown: ServiceBook.Arrival, _ service: SimulatedService) {
        guard let latest = facts.max(by: { $0.order < $1.order }), shown.key != latest.record.key.description else {
            return
        }
        // What was removed long after it was delivered cannot be compared any more.
        guard let key = EventKey(shown.key), let fact = fact(key, service.name), fact.order < latest.order else {
            return
        }
        world.violate("\(service.name) shows \(shown.key) for \(shown.stream); the latest is \(latest.record.key)")
    }

    private static func amount(_ subject: Subject) -> (measure: String, amount: Int64)? {
        switch subject {
        case .score(_, let value): ("value", value.units)
        case .achievement(_, .progress(let percent)): ("progress", Int64(percent))
        case .achievement(_, .steps(let count)): ("steps", count)
        case .achievement(_, .increment): nil
        }
    }

    /// Where the last write wins, writes came in the order in which events were accepted.
    private func checkOrder(_ service: SimulatedService) {
        for (stream, keys) in service.book.order.sorted(by: { $0.key < $1.key }) {
            let isStrict = service.resend == .lastWrite || service.book.standing[stream]?.keep == "latest"
            guard isStrict, !world.ledger.handled.contains(stream) else { continue }
            var last: Ledger.Fact?
            for text in keys {
                guard let key = EventKey(text), let fact = fact(key, service.name) else { continue }
                // What took effect and ended unconfirmed makes room for what it had replaced.
                if fact.state == .dead { continue }
                if let last, fact.order < last.order {
                    world.violate(
                        "\(fact.record.key) was written to \(stream) of \(service.name) after \(last.record.key)")
                }
                last = fact
            }
        }
    }

    // MARK: - Players and machine

    private func checkNotices() {
        for key in world.ledger.keys {
            guard let promise = world.ledger.promises[key] else { continue }
            let confirming = promise.fanOut.filter(\.confirms)
            guard confirming.count == 1, let way = confirming.first, fact(key, way.endpoint)?.state == .delivered,
                let service = world.services.first(where: { $0.name == way.endpoint }),
                service.book.effects[key.description]?.isNews == true
            else { continue }
            if world.ledger.shown[key] == nil { world.violate("no player was ever told of \(key)") }
        }
    }

    /// Timers go off for a reason.
    private func checkTimers() {
        let fired = world.timersOfTheDead + (world.daemon?.timersFired ?? 0)
        let causes = world.traffic.requests + world.commits + world.starts
        if fired > 3 * causes + 1_000 {
            world.violate("timers went off \(fired) times for \(causes) requests, commits and starts")
        }
    }
}
