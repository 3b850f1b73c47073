import KleosSupport
import Synchronization

/// Finds out from two readings whether the machine slept between them.
final class SleepMeter: Sendable {
    private let lastGap: Mutex<Int64>

    init(_ reading: ClockReading) {
        lastGap = Mutex(reading.bootMilliseconds - reading.monotonicMilliseconds)
    }

    /// Whether the boot clock has gained on the monotonic clock since the reading before this one.
    func hasSlept(_ reading: ClockReading, toleranceMilliseconds: Int64) -> Bool {
        let gap = reading.bootMilliseconds - reading.monotonicMilliseconds
        return lastGap.withLock { last in
            defer { last = gap }
            return gap - last > toleranceMilliseconds
        }
    }
}
