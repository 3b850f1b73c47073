import CSimulatedDisk
import KleosDaemon
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
package import KleosTestSupport

/// A simulated week of one machine, with everything that goes wrong in it; all of it follows from a seed.
package struct Simulation {
    /// What one run did.
    package struct Report: Sendable {
        package var seed: UInt64
        /// What must never be; empty in a good run.
        package var violations: [String] = []
        package var acknowledged = 0
        package var requests = 0
        package var starts = 0
        package var commits = 0
        package var simulatedMilliseconds: Int64 = 0
        package var incidents: [String: Int] = [:]
        package var cuts = 0
        /// Of two runs with one seed it is the same, where they are traced.
        package var digest: UInt64 = 0
    }

    private let world: World
    private let incidents: Incidents
    private let seed: UInt64
    private var readers: [SimulatedReader] = []

    private static let users: [UInt32] = [1000, 1001]
    /// After the faults, so long is enough for everything: a service may ask for a day of rest.
    private static let recoveryMilliseconds: Int64 = 4 * 86_400_000

    /// Makes the machine. Throws `SystemError` where there is no room for its files.
    package init(seed: UInt64, disk: SimulatedDisk, tracer: ((String) -> Void)? = nil) throws {
        self.seed = seed
        world = World(seed: seed, folder: try TemporaryFolder(prefix: "kleos-week"), disk: disk, tracer: tracer)
        incidents = Incidents(world)
    }

    /// Lets the week happen, then gives the machine time to recover, and says what was found.
    package func run() -> Report {
        let schedule = world.schedule
        schedule.afterStep = { [unowned world] in world.afterStep() }
        world.startDaemon()
        for uid in Self.users {
            SimulatedClient(world, uid: uid).play()
            SimulatedReader(world, uid: uid).look()
        }
        incidents.begin()
        schedule.run(until: Incidents.weekMilliseconds) { [world] in !world.violations.isEmpty }
        if world.violations.isEmpty { recover() }
        schedule.afterStep = {}
        let report = report()
        world.dismantle()
        return report
    }

    private func recover() {
        incidents.end()
        let schedule = world.schedule
        // A daemon that is down comes back by itself; then the operator puts everything in order, once.
        schedule.run(until: schedule.milliseconds + 3_600_000) { [world] in
            !world.violations.isEmpty || world.daemon?.isServing == true
        }
        world.reload(world.configuration.whole)
        schedule.run(until: schedule.milliseconds + 60_000)
        putInOrder()
        schedule.run(until: schedule.milliseconds + Self.recoveryMilliseconds) { [world] in !world.violations.isEmpty }
        guard world.violations.isEmpty, let daemon = world.daemon else {
            if world.violations.isEmpty { world.violate("there is no daemon at the end") }
            return
        }
        Inspection.look(into: daemon.engine.store, of: daemon.life, in: world) { [world] findings in
            Inspection.takeOver(findings, in: world)
            FinalChecks(world).run()
            world.wasChecked = true
        }
        schedule.run(until: schedule.milliseconds)
        if !world.wasChecked { world.violate("the outbox could not be looked through at the end") }
    }

    private func putInOrder() {
        guard let daemon = world.daemon, daemon.isServing else { return }
        let now = world.clock.read()
        daemon.engine.store.perform { outbox throws(StoreError) in
            var cursor: String?
            repeat {
                cursor = try outbox.release(.filter(DeliveryFilter()), after: cursor, now: now).cursor
            } while cursor != nil
        } then: { _ in
        }
        for name in world.configuration.names { daemon.engine.worker.async { $0.resume(name) { _ in } } }
    }

    private func report() -> Report {
        Report(
            seed: seed, violations: world.violations, acknowledged: world.ledger.keys.count,
            requests: world.traffic.requests, starts: world.starts, commits: world.commits,
            simulatedMilliseconds: world.schedule.milliseconds, incidents: world.incidentCounts,
            cuts: Int(world.disk.counts.cuts), digest: world.digest)
    }
}
