import CLinux
package import Dispatch
import Glibc
package import KleosSupport

/// Tells when the wall clock was set, and when the machine came back from suspend, which sets it too.
///
/// A timer far in the future that is cancelled when the clock is set (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET): no
/// wake-up comes but that one. Whether the machine slept shows in the boot clock, which counts on while the monotonic
/// clock stands still.
package final class ClockMonitor {
    /// What happened.
    package enum Change: Sendable, Equatable {
        case clockSet
        case resumed
    }

    private let source: any DispatchSourceRead

    /// The clocks may differ by so much without any sleep.
    private static let toleranceMilliseconds: Int64 = 500

    /// Calls `handler` on `queue` after each change. Throws `SystemError`.
    package init(
        clock: any Clock, queue: DispatchQueue, handler: @escaping @Sendable (Change) -> Void
    ) throws(SystemError) {
        let number = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard number >= 0 else { throw SystemError("watch the clock") }
        let descriptor = FileDescriptor(owning: number)
        try Self.arm(descriptor)
        source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        let sleep = SleepMeter(clock.read())
        source.setEventHandler {
            var count: UInt64 = 0
            _ = read(descriptor.number, &count, MemoryLayout<UInt64>.size)
            // Arming can fail only for a descriptor that is none.
            try? Self.arm(descriptor)
            handler(
                sleep.hasSlept(clock.read(), toleranceMilliseconds: Self.toleranceMilliseconds) ? .resumed : .clockSet)
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    private static func arm(_ descriptor: FileDescriptor) throws(SystemError) {
        var time = itimerspec()
        // The year 2200.
        time.it_value.tv_sec = 7_258_118_400
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(bitPattern: UInt32(TFD_TIMER_CANCEL_ON_SET))
        guard timerfd_settime(descriptor.number, flags, &time, nil) == 0 else { throw SystemError("watch the clock") }
    }
}
