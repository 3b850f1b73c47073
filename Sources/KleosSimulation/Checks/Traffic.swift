import KleosDaemon
import KleosDelivery
import KleosModel
import KleosSupport

/// Checks what goes over the network while it goes: one in flight per stream that has a head, no event twice at once,
/// budgets, rest where rest was asked for.
///
/// It begins anew with each process, since a daemon that was killed knows nothing of what it sent before.
final class Traffic {
    /// Unowned, since the world owns its traffic.
    private unowned let world: World
    private var inFlight: [String: [ServiceBook.Arrival]] = [:]
    /// What was in flight when other settings came into force, beside which the new limit holds.
    private var inFlightBefore: [String: [ServiceBook.Arrival]] = [:]
    private var sentAt: [String: [Int64]] = [:]
    private var restUntil: [String: Int64] = [:]
    private(set) var requests = 0

    init(_ world: World) {
        self.world = world
    }

    private var bootMilliseconds: Int64 { world.clock.read().bootMilliseconds }

    /// A process begins, or takes over other settings: what was asked of the one before is not known to it.
    func begin(isNewProcess: Bool) {
        if isNewProcess { inFlight = [:] }
        inFlightBefore = inFlight
        sentAt = [:]
        restUntil = [:]
    }

    /// A request goes out.
    func sent(_ arrival: ServiceBook.Arrival, to name: String, request: TransportRequest) {
        requests += 1
        guard let endpoint = world.setup.endpoints[name] else { return }
        let others = inFlight[name, default: []]
        if others.contains(where: { $0.key == arrival.key }) {
            world.violate("\(arrival.key) is in flight to \(name) twice")
        }
        let isOrdered = ["best", "latest"].contains(arrival.keep) || endpoint.resend == .lastWrite
        if isOrdered, others.contains(where: { $0.stream == arrival.stream && $0.keep == arrival.keep }) {
            world.violate("two deliveries of \(arrival.stream) are in flight to \(name)")
        }
        inFlight[name, default: []].append(arrival)
        let count = (inFlight[name]?.count ?? 0) - (inFlightBefore[name]?.count ?? 0)
        if count > endpoint.maximumInFlight {
            world.violate("\(count) requests in flight to \(name), which takes \(endpoint.maximumInFlight)")
        }
        checkRest(name)
        checkBudget(endpoint)
    }

    private func checkRest(_ name: String) {
        guard let until = restUntil[name], bootMilliseconds < until else { return }
        world.violate("\(name) asked for rest and was called \(until - bootMilliseconds) ms too early")
    }

    private func checkBudget(_ endpoint: Endpoint) {
        guard let perMinute = endpoint.requestsPerMinute else { return }
        let now = bootMilliseconds
        var recent = sentAt[endpoint.name, default: []].filter { $0 > now - 60_000 }
        recent.append(now)
        sentAt[endpoint.name] = recent
        let limit = perMinute + min(endpoint.maximumInFlight, perMinute)
        if recent.count > limit {
            world.violate("\(recent.count) requests to \(endpoint.name) within a minute; \(limit) are allowed")
        }
    }

    /// A complete answer came.
    func answered(_ name: String, _ answer: TransportAnswer) {
        guard let endpoint = world.setup.endpoints[name], endpoint.throttleScope == .endpoint,
            [429, 503].contains(answer.status), let text = answer.retryAfter, text.count < 6, let seconds = Int64(text),
            seconds > 0
        else { return }
        restUntil[name] = max(restUntil[name] ?? 0, bootMilliseconds + seconds * 1000)
    }

    /// A request ended, however.
    func ended(_ arrival: ServiceBook.Arrival, at name: String) {
        inFlight[name]?.removeAll { $0.key == arrival.key }
        inFlightBefore[name]?.removeAll { $0.key == arrival.key }
    }
}
