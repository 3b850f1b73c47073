import KleosDaemon
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport

/// A machine with a daemon, games and players, and the services that it talks to.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class World: @unchecked Sendable {
    let schedule: Schedule
    let clock: MachineClock
    let disk: SimulatedDisk
    let folder: TemporaryFolder
    let configuration: Setup
    /// The configuration in force.
    private(set) var setup: Engine.Setup
    let services: [SimulatedService]
    var ledger = Ledger()
    private(set) lazy var traffic = Traffic(self)
    private(set) var daemon: SimulatedDaemon?
    /// Every key that was handed to an outbox, acknowledged or not.
    var submitted: Set<EventKey> = []
    var areFaultsOver = false
    /// Whether the checks at the end were made.
    var wasChecked = false
    private(set) var violations: [String] = []
    private(set) var starts = 0
    private(set) var commits = 0
    private(set) var timersOfTheDead = 0
    var incidentCounts: [String: Int] = [:]
    private var whatHappensToTheDead: (() -> Void)?
    private let retentionMilliseconds: Int64
    let playPauseMilliseconds: Int64
    private let tracer: ((String) -> Void)?
    /// A number made of all that happened, to compare two runs.
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Makes a world that follows from `seed`; `tracer` is told all that happens. Throws `SystemError`.
    init(seed: UInt64, folder: TemporaryFolder, disk: SimulatedDisk, tracer: ((String) -> Void)?) {
        schedule = Schedule(seed: seed)
        clock = MachineClock(schedule)
        self.disk = disk
        self.folder = folder
        self.tracer = tracer
        configuration = Setup(schedule)
        setup = configuration.whole
        services = configuration.names.compactMap { [configuration] name in
            configuration.whole.endpoints[name].map { SimulatedService(name: name, resend: $0.resend) }
        }
        retentionMilliseconds = schedule.one(of: [30 * 86_400_000, 86_400_000])
        playPauseMilliseconds = schedule.one(of: [8, 20]) * 3_600_000
        disk.reset(seed: schedule.random.next())
        disk.onSync { [schedule] in schedule.pass(schedule.skewed(0...8)) }
    }

    /// How the daemon opens its outbox.
    var storeOptions: StoreOptions {
        StoreOptions(
            freeFloorBytes: 0, reserveBytes: 0, deliveredRetentionMilliseconds: retentionMilliseconds,
            machineID: "machine-1", sqliteFileSystem: disk.name)
    }

    /// The log of the daemon, as part of the trace.
    var log: Log {
        guard tracer != nil else { return Log(threshold: .error) { _, _ in } }
        return Log(threshold: .debug) { [self] level, line in trace("\(level.name): \(line)") }
    }

    // MARK: - What happened

    /// Takes note of something that happened.
    func trace(_ text: @autoclosure () -> String) {
        guard let tracer else { return }
        // The folder has another name each time.
        let line = "\(schedule.milliseconds) \(text())".replacing(folder.path, with: "STATE")
        for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        tracer(line)
    }

    /// Something that must never be.
    func violate(_ text: String) {
        trace("VIOLATION: \(text)")
        violations.append("after \(schedule.milliseconds / 1000) s: \(text)")
    }

    /// The service that a request goes to.
    func service(at url: String) -> SimulatedService? {
        services.first { url.hasPrefix("https://\($0.name).example/") }
    }

    /// A client was told that its event is safe.
    func acknowledged(_ event: Event, _ fanOut: [FanOut]) {
        let promise = Ledger.Promise(
            event: event, fanOut: fanOut, acknowledgedMilliseconds: clock.trueMilliseconds)
        let isFirst = ledger.promise(promise)
        trace("acknowledged \(event.key) \(event.player) \(event.subject)\(isFirst ? "" : " again")")
    }

    /// A transaction is on disk.
    func committed(_ changes: OutboxChanges) {
        commits += 1
        for change in changes.deliveries {
            ledger.moved(change)
            trace(
                "\(change.key.description.suffix(8)) at \(change.endpoint): "
                    + "\(change.from?.rawValue ?? "new") to \(change.to.rawValue) \(change.reason?.rawValue ?? "")")
        }
    }

    /// A player saw a notice.
    func showed(_ notice: Notice) {
        trace("showed \(notice.key.description.suffix(8))")
        ledger.shown[notice.key, default: 0] += 1
        let key = notice.key.description
        if !services.contains(where: { $0.book.effects[key] != nil }) {
            violate("a notice of \(key), which no service has")
        }
    }

    // MARK: - The daemon's life

    /// Starts a daemon, now or, where it cannot start, as often as a service manager tries.
    func startDaemon() {
        guard daemon == nil else { return }
        do throws(StoreError) {
            starts += 1
            let started = try SimulatedDaemon(self)
            daemon = started
            traffic.begin(isNewProcess: true)
            Inspection.afterStart(of: started, in: self) { started.begin() }
        } catch {
            trace("the daemon cannot start: \(error)")
            daemon?.die()
            daemon = nil
            if error.kind != .io && error.kind != .full && error.kind != .unwritable {
                violate("the daemon cannot start: \(error)")
            }
            revive(after: schedule.skewed(1_000...60_000))
        }
    }

    /// The daemon found out that it cannot go on; it exits.
    func daemonFailed(_ life: Life) {
        schedule.after(0, life) { [self] in killDaemon() }
    }

    /// Ends the daemon between two instructions, and starts another one later.
    func killDaemon(then aftermath: @escaping () -> Void = {}) {
        bury()
        aftermath()
        revive(after: schedule.skewed(100...120_000))
    }

    /// Stops the daemon as a service manager does, and starts it again later.
    func stopDaemon() {
        guard let daemon, daemon.isServing else { return }
        trace("the daemon is told to stop")
        daemon.stop { [self] in
            schedule.after(0, daemon.life) { [self] in killDaemon() }
        }
    }

    private func bury() {
        // A disk that stopped while a daemon was starting works for the next one.
        defer { disk.restart() }
        guard let daemon else { return }
        trace("the daemon ends")
        timersOfTheDead += daemon.timersFired
        // Nothing that SQLite does while it closes its files may reach the disk: a killed process closes nothing.
        if !disk.isStopped { disk.stop(afterOperations: 0) }
        daemon.die()
        self.daemon = nil
        schedule.forgetEnded()
    }

    /// Closes everything, at the end of a run.
    func dismantle() {
        bury()
        disk.onSync(nil)
        schedule.forgetEverything()
    }

    private func revive(after delay: Int64) {
        schedule.after(delay) { [self] in startDaemon() }
    }

    /// Lets `operations` more writes happen; then `aftermath` follows the daemon's sudden end.
    func dieDuringWrite(afterOperations operations: Int, then aftermath: @escaping () -> Void) {
        guard whatHappensToTheDead == nil, !areFaultsOver else { return }
        whatHappensToTheDead = aftermath
        disk.stop(afterOperations: operations)
    }

    /// What has to be looked at between two pieces of work.
    func afterStep() {
        if disk.isStopped, let aftermath = whatHappensToTheDead {
            whatHappensToTheDead = nil
            trace("the disk stopped in the middle of a write")
            killDaemon(then: aftermath)
        }
        if let daemon, daemon.depth > 5_000 { violate("\(daemon.depth) pieces of work wait in the daemon") }
    }

    /// No write is interrupted any more.
    func forgetPlannedDeath() {
        guard whatHappensToTheDead != nil else { return }
        whatHappensToTheDead = nil
        disk.stop(afterOperations: -1)
        if disk.isStopped { disk.restart() }
    }

    /// Takes over a configuration, as a reload does.
    func reload(_ changed: Engine.Setup) {
        guard let daemon, daemon.isServing else { return }
        trace("reload")
        setup = changed
        traffic.begin(isNewProcess: false)
        daemon.engine.apply(changed) { [self] in trace("reloaded") }
    }
}
