import CLinux
import Glibc

/// One reading of every clock that matters to an outbox.
package struct ClockReading: Sendable, Equatable {
    /// Wall clock, milliseconds since 1970-01-01 UTC.
    package var wallMilliseconds: Int64
    /// Time since boot, suspended time included (CLOCK_BOOTTIME), milliseconds.
    package var bootMilliseconds: Int64
    /// Time since boot, suspended time left out (CLOCK_MONOTONIC), milliseconds.
    package var monotonicMilliseconds: Int64
    /// The kernel's id of this boot; boot clocks compare only within one boot.
    package var bootID: String
    /// Whether the kernel says that the wall clock is disciplined by a time source.
    package var isSynchronized: Bool

    /// Makes a reading from its parts.
    package init(
        wallMilliseconds: Int64, bootMilliseconds: Int64, monotonicMilliseconds: Int64, bootID: String,
        isSynchronized: Bool
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.bootMilliseconds = bootMilliseconds
        self.monotonicMilliseconds = monotonicMilliseconds
        self.bootID = bootID
        self.isSynchronized = isSynchronized
    }
}

/// A source of time; injected wherever time matters.
package protocol Clock: Sendable {
    /// Reads all clocks now.
    func read() -> ClockReading
    /// The monotonic clock alone, in nanoseconds; for measuring short times.
    var monotonicNanoseconds: Int64 { get }
}

extension Clock {
    package var monotonicNanoseconds: Int64 { read().monotonicMilliseconds * 1_000_000 }
}

/// The machine's own clocks.
package struct SystemClock: Clock {
    private let bootID: String

    /// Makes a clock; the boot id is read once, and is empty where /proc hides it.
    package init() {
        let text = (try? SmallFile.readText(at: "/proc/sys/kernel/random/boot_id", limitBytes: 64)) ?? ""
        bootID = text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    }

    package func read() -> ClockReading {
        return ClockReading(
            wallMilliseconds: Self.milliseconds(CLOCK_REALTIME),
            bootMilliseconds: Self.milliseconds(CLOCK_BOOTTIME),
            monotonicMilliseconds: Self.milliseconds(CLOCK_MONOTONIC),
            bootID: bootID,
            isSynchronized: Self.isSynchronized())
    }

    /// What the kernel says; where a sandbox forbids asking it, what systemd-timesyncd says.
    private static func isSynchronized() -> Bool {
        var state = timex()
        let clockState = adjtimex(&state)
        guard clockState >= 0 else { return access("/run/systemd/timesync/synchronized", F_OK) == 0 }
        return clockState != TIME_ERROR && state.status & STA_UNSYNC == 0
    }

    package var monotonicNanoseconds: Int64 { Self.nanoseconds(CLOCK_MONOTONIC) }

    /// The boot clock alone, in milliseconds; cheaper than a whole reading.
    package var bootMilliseconds: Int64 { Self.milliseconds(CLOCK_BOOTTIME) }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        nanoseconds(clock) / 1_000_000
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // clock_gettime fails only for a clock that does not exist, which is a programmer's error.
        precondition(clock_gettime(clock, &time) == 0, "clock_gettime failed for clock \(clock)")
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
