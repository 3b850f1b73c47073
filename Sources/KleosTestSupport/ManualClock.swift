package import KleosSupport
import Synchronization

/// A clock that moves only when a test says so.
package final class ManualClock: Clock {
    private let reading: Mutex<ClockReading>

    /// Makes a clock that stands still at the given time; by default 2026-11-30T00:00:00Z, an hour after boot.
    package init(
        wallMilliseconds: Int64 = 1_795_996_800_000, bootMilliseconds: Int64 = 3_600_000, bootID: String = "boot-1",
        isSynchronized: Bool = true
    ) {
        reading = Mutex(
            ClockReading(
                wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds,
                monotonicMilliseconds: bootMilliseconds, bootID: bootID, isSynchronized: isSynchronized))
    }

    package func read() -> ClockReading { reading.withLock { $0 } }

    /// The wall clock now, Unix milliseconds.
    package var nowMilliseconds: Int64 { read().wallMilliseconds }

    /// Lets time pass on every clock.
    package func advance(milliseconds: Int64) {
        reading.withLock {
            $0.wallMilliseconds += milliseconds
            $0.bootMilliseconds += milliseconds
            $0.monotonicMilliseconds += milliseconds
        }
    }

    /// Lets time pass as in a suspended machine: the monotonic clock stands still.
    package func suspend(milliseconds: Int64) {
        reading.withLock {
            $0.wallMilliseconds += milliseconds
            $0.bootMilliseconds += milliseconds
        }
    }

    /// Sets the wall clock forward or, with a negative number, back.
    package func step(milliseconds: Int64) {
        reading.withLock { $0.wallMilliseconds += milliseconds }
    }

    /// Starts a new boot `milliseconds` of wall time later.
    package func reboot(bootID: String, afterMilliseconds milliseconds: Int64 = 0) {
        reading.withLock {
            $0.wallMilliseconds += milliseconds
            $0.bootMilliseconds = 0
            $0.monotonicMilliseconds = 0
            $0.bootID = bootID
        }
    }

    /// Says whether the wall clock is disciplined by a time source.
    package func setSynchronized(_ isSynchronized: Bool) {
        reading.withLock { $0.isSynchronized = isSynchronized }
    }
}
