import KleosDaemon
import KleosModel
import KleosStore
import KleosSupport

/// Looks through a whole outbox: whether it contradicts itself, and whether everything promised is there.
enum Inspection {
    /// What was found in an outbox.
    struct Findings: Sendable {
        var records: [DeliveryRecord] = []
        var contradictions: [String] = []
    }

    /// Looks through the outbox as a new process finds it, then calls `completion`.
    static func afterStart(of daemon: SimulatedDaemon, in world: World, then completion: @escaping () -> Void) {
        look(into: daemon.engine.store, of: daemon.life, in: world) { findings in
            takeOver(findings, in: world)
            completion()
        }
    }

    /// Looks through an outbox and calls `completion` unless it fails.
    static func look(
        into store: Store, of life: Life, in world: World, then completion: @escaping (Findings) -> Void
    ) {
        let answer = Answer(completion)
        store.perform { outbox throws(StoreError) in
            var findings = Findings(contradictions: try outbox.contradictions())
            var cursor: String?
            repeat {
                let page = try outbox.list(DeliveryFilter(), visibleTo: nil, cursor: cursor, limit: 500)
                findings.records += page.deliveries
                cursor = page.cursor
            } while cursor != nil
            return findings
        } then: { result in
            switch result {
            case .success(let findings): answer.completion(findings)
            case .failure(let error):
                world.trace("the outbox cannot be looked through: \(error)")
                world.daemonFailed(life)
            }
        }
    }

    /// Sendable because everything that touches it runs on the schedule's one thread.
    private final class Answer: @unchecked Sendable {
        let completion: (Findings) -> Void
        init(_ completion: @escaping (Findings) -> Void) { self.completion = completion }
    }

    /// Checks findings against what was promised and remembers them.
    static func takeOver(_ findings: Findings, in world: World) {
        for contradiction in findings.contradictions { world.violate(contradiction) }
        var found: [Ledger.Way: Ledger.Fact] = [:]
        for record in findings.records {
            found[Ledger.Way(key: record.key, endpoint: record.endpoint)] = Ledger.Fact(
                state: record.state, reason: record.reason, supersededBy: record.supersededBy, order: 0, record: record)
            check(record, in: world)
        }
        for key in world.ledger.keys {
            guard let promise = world.ledger.promises[key] else { continue }
            for way in promise.fanOut where found[Ledger.Way(key: key, endpoint: way.endpoint)] == nil {
                checkGone(Ledger.Way(key: key, endpoint: way.endpoint), promise, in: world)
            }
        }
        world.ledger.remember(found)
    }

    /// What is recorded is what was submitted.
    private static func check(_ record: DeliveryRecord, in world: World) {
        guard world.submitted.contains(record.key) else {
            return world.violate("\(record.key) is in the outbox and nobody submitted it")
        }
        guard let promise = world.ledger.promises[record.key] else { return }
        let event = promise.event
        if event.game != record.game || event.player != record.player || event.subject != record.subject
            || event.clientID != record.clientID || event.submitter.uid != record.uid
        {
            world.violate("\(record.key) is not what was submitted: \(record) for \(event)")
        }
    }

    /// What is not there any more was settled and visible long enough.
    private static func checkGone(_ way: Ledger.Way, _ promise: Ledger.Promise, in world: World) {
        let age = world.clock.trueMilliseconds - promise.acknowledgedMilliseconds
        switch world.ledger.lastStates[way] {
        case .delivered, .superseded, .discarded: return
        case _ where age > world.storeOptions.deliveredRetentionMilliseconds: return
        case let state:
            world.violate(
                "\(way.key) to \(way.endpoint), acknowledged, is gone; it was last \(state?.rawValue ?? "never seen")")
        }
    }
}
