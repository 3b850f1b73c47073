import KleosSupport

/// One run of a process, from its start to its end or kill.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class Life: @unchecked Sendable {
    /// Whether it still runs.
    private(set) var isAlive = true

    /// Ends it; what it had planned does not happen.
    func end() { isAlive = false }
}

/// A serial queue whose work is run piece by piece by the schedule.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class StepQueue: SerialQueue, @unchecked Sendable {
    let life: Life
    private let schedule: Schedule
    private var work: [@Sendable () -> Void] = []
    private var next = 0
    /// How often a timer of this queue went off.
    private(set) var timersFired = 0

    init(_ schedule: Schedule, life: Life) {
        self.schedule = schedule
        self.life = life
    }

    /// Whether there is work to run.
    var hasWork: Bool { life.isAlive && next < work.count }
    /// How much work waits.
    var depth: Int { work.count - next }

    /// Runs the first piece of work.
    func runFirst() {
        let first = work[next]
        next += 1
        if next == work.count {
            work.removeAll(keepingCapacity: true)
            next = 0
        }
        if hasWork { schedule.noteWork(of: self) }
        first()
    }

    /// Forgets all work, and with it whatever the work holds.
    func clear() {
        work = []
        next = 0
    }

    func async(_ work: @escaping @Sendable () -> Void) {
        guard life.isAlive else { return }
        self.work.append(work)
        if depth == 1 { schedule.noteWork(of: self) }
    }

    func sync(_ work: () -> Void) {
        preconditionFailure("nothing in a simulation waits for another queue")
    }

    func after(milliseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        schedule.after(milliseconds, life) { [weak self] in self?.async(work) }
    }

    func makeTimer(_ handler: @escaping @Sendable () -> Void) -> any WakeTimer {
        StepTimer(self, schedule) { [weak self] in
            self?.timersFired += 1
            handler()
        }
    }

    func requireCurrent() {
        precondition(schedule.current === self, "an actor was entered outside its queue")
    }
}

/// A timer of a queue that is stepped; it fires anywhere within its leeway.
private final class StepTimer: WakeTimer {
    private weak var queue: StepQueue?
    private let schedule: Schedule
    private let handler: @Sendable () -> Void
    private var round = 0

    init(_ queue: StepQueue, _ schedule: Schedule, _ handler: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.schedule = schedule
        self.handler = handler
    }

    func schedule(milliseconds: Int64?, leewayMilliseconds: Int64) {
        round += 1
        guard let milliseconds, let queue else { return }
        let planned = round
        let delay = milliseconds + schedule.number(0...max(0, leewayMilliseconds))
        schedule.after(delay, queue.life) { [weak self] in
            guard let self, self.round == planned else { return }
            self.queue?.async(self.handler)
        }
    }

    func cancel() { round += 1 }
}
