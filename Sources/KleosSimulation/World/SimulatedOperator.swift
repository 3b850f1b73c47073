import KleosDaemon
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport

/// Somebody with the right to operate the queue, who does so at random.
struct SimulatedOperator {
    let world: World

    private enum Verb: CaseIterable {
        case hold, release, discard, retry
    }

    /// Does one thing.
    func act() {
        guard let daemon = world.daemon, daemon.isServing else { return }
        let schedule = world.schedule
        switch schedule.number(0...9) {
        case 0: daemon.engine.worker.async { [name = anyEndpoint] in $0.pause(name, reason: "by hand") { _ in } }
        case 1...2: daemon.engine.worker.async { [name = anyEndpoint] in $0.resume(name) { _ in } }
        case 3: daemon.engine.worker.async { [name = schedule.one(of: [nil, anyEndpoint])] in $0.flush(name) }
        case 4: perform(schedule.one(of: Verb.allCases), on: .filter(filter()), of: daemon)
        default:
            guard !world.ledger.keys.isEmpty else { return }
            let key = schedule.one(of: world.ledger.keys.suffix(30))
            perform(schedule.one(of: Verb.allCases), on: .keys([key]), of: daemon)
        }
    }

    private var anyEndpoint: String { world.schedule.one(of: world.configuration.names) }

    private func filter() -> DeliveryFilter {
        let schedule = world.schedule
        var filter = DeliveryFilter(endpoint: anyEndpoint, player: "p\(schedule.number(0...2))")
        if schedule.chance(oneIn: 2) { filter.states = [schedule.one(of: DeliveryState.allCases)] }
        return filter
    }

    private func perform(_ verb: Verb, on selection: DeliverySelection, of daemon: SimulatedDaemon) {
        world.trace("operator: \(verb) \(selection)")
        note(verb, selection)
        let now = world.clock.read()
        daemon.engine.store.perform { outbox throws(StoreError) in
            switch verb {
            case .hold: try outbox.hold(selection, now: now)
            case .release: try outbox.release(selection, now: now)
            case .discard: try outbox.discard(selection, now: now)
            case .retry: try outbox.retry(selection, now: now)
            }
        } then: { _ in
        }
    }

    /// What is asked may happen even where no answer comes, so it is noted down before.
    private func note(_ verb: Verb, _ selection: DeliverySelection) {
        let concerned: (Ledger.Promise) -> Bool =
            switch selection {
            case .keys(let keys, _): { keys.contains($0.event.key) }
            case .filter(let filter):
                { promise in
                    promise.event.player == filter.player && promise.fanOut.contains { $0.endpoint == filter.endpoint }
                }
            }
        for key in world.submitted where world.ledger.promises[key] == nil {
            // Its client was never answered, and it may be in the outbox all the same.
            world.ledger.note(key, isDiscarded: verb == .discard, isRetried: verb == .retry)
        }
        for key in world.ledger.keys {
            guard let promise = world.ledger.promises[key], concerned(promise) else { continue }
            world.ledger.note(key, isDiscarded: verb == .discard, isRetried: verb == .retry)
            let event = promise.event
            world.ledger.handled.insert(
                "\(event.game)/\(event.player)/\(event.subject.kind.rawValue)/\(event.subject.item)")
        }
    }
}

extension Ledger {
    /// Remembers what an operator asked for an event.
    mutating func note(_ key: EventKey, isDiscarded: Bool, isRetried: Bool) {
        if isDiscarded { discarded.insert(key) }
        if isRetried { retried.insert(key) }
    }
}
