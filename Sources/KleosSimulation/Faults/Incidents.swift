import Glibc
import KleosDaemon
import KleosDelivery
import KleosStore
import KleosSupport
import KleosTestSupport

/// Lets incidents happen, each kind at its own rate; a seed chooses which kinds there are.
final class Incidents {
    private let world: World
    private let kinds: [Incident]
    static let weekMilliseconds: Int64 = 7 * 86_400_000
    private var isDiskFull = false

    init(_ world: World) {
        self.world = world
        // Leaving kinds out shows what the others would hide.
        kinds = Incident.allCases.filter { _ in !world.schedule.chance(oneIn: 3) }
    }

    /// Plans the first of each kind.
    func begin() {
        for kind in kinds { plan(kind) }
    }

    private func plan(_ kind: Incident) {
        let pause = Self.weekMilliseconds / Int64(kind.perWeek)
        world.schedule.after(world.schedule.number(0...2 * pause)) { [self] in
            guard !world.areFaultsOver else { return }
            world.incidentCounts[kind.rawValue, default: 0] += 1
            world.trace("incident: \(kind.rawValue)")
            happen(kind)
            plan(kind)
        }
    }

    private func happen(_ kind: Incident) {
        let schedule = world.schedule
        switch kind {
        case .kill: world.killDaemon()
        case .killDuringWrite: world.dieDuringWrite(afterOperations: schedule.number(0...60)) {}
        case .powerCut:
            world.dieDuringWrite(afterOperations: schedule.number(0...60)) { [self] in cutPower() }
        case .stop: world.stopDaemon()
        case .diskFull: fillDisk()
        case .diskError: breakDisk()
        case .slowDisk: slowDown()
        case .mood: changeMood()
        case .network:
            withDaemon { daemon in daemon.engine.worker.async { $0.networkChanged() } }
        case .suspend:
            world.clock.suspend(milliseconds: schedule.skewed(1_000...86_400_000))
            withDaemon { daemon in daemon.engine.worker.async { $0.resumedFromSuspend() } }
        case .clockStep: stepClock()
        case .reload: reload()
        case .operatorActs: SimulatedOperator(world: world).act()
        }
    }

    private func withDaemon(_ body: (SimulatedDaemon) -> Void) {
        if let daemon = world.daemon, daemon.isServing { body(daemon) }
    }

    private func cutPower() {
        world.disk.cutPower()
        world.clock.reboot()
        guard world.schedule.chance(oneIn: 3) else { return }
        // A machine without a battery for its clock begins in the past, until a time source is reached.
        world.clock.lose(errorMilliseconds: -world.schedule.skewed(1_000...40 * 86_400_000))
        world.schedule.after(world.schedule.skewed(60_000...86_400_000)) { [self] in setClockRight() }
    }

    private func stepClock() {
        let error = world.schedule.skewed(1_000...10 * 86_400_000)
        world.clock.lose(errorMilliseconds: world.schedule.chance(oneIn: 2) ? error : -error)
        tellOfClock()
        world.schedule.after(world.schedule.skewed(60_000...86_400_000)) { [self] in setClockRight() }
    }

    /// A time source corrects the wall clock.
    func setClockRight() {
        world.clock.synchronize()
        tellOfClock()
    }

    private func tellOfClock() {
        withDaemon { daemon in daemon.engine.worker.async { $0.clockChanged() } }
    }

    private func fillDisk() {
        guard !isDiskFull else { return }
        isDiskFull = true
        let used = ["outbox.db", "outbox.db-wal"].reduce(Int64(0)) { sum, name in
            var information = stat()
            return sum + (stat(world.folder.path(name), &information) == 0 ? Int64(information.st_size) : 0)
        }
        world.disk.setCapacity(bytes: used + world.schedule.skewed(0...200_000))
        world.schedule.after(world.schedule.skewed(60_000...43_200_000)) { [self] in emptyDisk() }
    }

    private func emptyDisk() {
        isDiskFull = false
        world.disk.setCapacity(bytes: nil)
    }

    private func breakDisk() {
        let operation = world.schedule.one(of: SimulatedDisk.Operation.allCases.filter { $0 != .delete })
        world.disk.fail(operation, after: world.schedule.number(0...40), count: world.schedule.number(1...3))
    }

    private func slowDown() {
        let schedule = world.schedule
        let worst = schedule.skewed(10...3_000)
        world.disk.onSync { schedule.pass(schedule.skewed(0...worst)) }
        schedule.after(schedule.skewed(60_000...7_200_000)) { [world] in
            world.disk.onSync { schedule.pass(schedule.skewed(0...8)) }
        }
    }

    private func changeMood() {
        let schedule = world.schedule
        let service = schedule.one(of: world.services)
        service.mood = schedule.one(of: Mood.allCases)
        world.trace("\(service.name) is \(service.mood.rawValue)")
        schedule.after(schedule.skewed(60_000...43_200_000)) { service.mood = .up }
    }

    private func reload() {
        world.reload(world.configuration.changed(world.schedule))
        world.schedule.after(world.schedule.skewed(60_000...43_200_000)) { [world] in
            world.reload(world.configuration.whole)
        }
    }

    /// Ends whatever is wrong.
    func end() {
        world.areFaultsOver = true
        world.forgetPlannedDeath()
        emptyDisk()
        for operation in SimulatedDisk.Operation.allCases { world.disk.fail(operation, count: 0) }
        let schedule = world.schedule
        world.disk.onSync { schedule.pass(schedule.skewed(0...8)) }
        for service in world.services { service.mood = .up }
        setClockRight()
    }
}
