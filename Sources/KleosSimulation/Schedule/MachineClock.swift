import KleosSupport

/// The clocks of the simulated machine, right or wrong.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class MachineClock: Clock, @unchecked Sendable {
    private let schedule: Schedule
    /// 2026-11-30T00:00:00Z.
    private static let beginMilliseconds: Int64 = 1_795_996_800_000
    private var boots = 1
    private var bootedAt: Int64 = 0
    private var suspendedSinceBoot: Int64 = 0
    private var suspendedInAll: Int64 = 0
    /// How wrong the wall clock is.
    private(set) var errorMilliseconds: Int64 = 0
    /// Whether the kernel says that a time source disciplines it.
    private(set) var isSynchronized = true

    init(_ schedule: Schedule) {
        self.schedule = schedule
    }

    /// The true time, which only the outside world knows, Unix milliseconds.
    var trueMilliseconds: Int64 { Self.beginMilliseconds + schedule.milliseconds + suspendedInAll }

    func read() -> ClockReading {
        let monotonic = schedule.milliseconds - bootedAt
        return ClockReading(
            wallMilliseconds: trueMilliseconds + errorMilliseconds, bootMilliseconds: monotonic + suspendedSinceBoot,
            monotonicMilliseconds: monotonic, bootID: "boot-\(boots)", isSynchronized: isSynchronized)
    }

    /// The machine slept.
    func suspend(milliseconds: Int64) {
        suspendedSinceBoot += milliseconds
        suspendedInAll += milliseconds
    }

    /// The wall clock is set wrong by so much; nothing disciplines it.
    func lose(errorMilliseconds: Int64) {
        self.errorMilliseconds = errorMilliseconds
        isSynchronized = false
    }

    /// A time source sets the wall clock right.
    func synchronize() {
        errorMilliseconds = 0
        isSynchronized = true
    }

    /// The machine starts again.
    func reboot() {
        boots += 1
        bootedAt = schedule.milliseconds
        suspendedSinceBoot = 0
    }
}
