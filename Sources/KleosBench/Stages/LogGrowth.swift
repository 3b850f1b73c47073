import Glibc
import KleosSupport

/// Pages that one event adds to the log.
enum LogGrowth {
    /// A log that does not grow for so long has everything that belongs to the event.
    private static let quietMicroseconds: UInt32 = 60_000
    private static let patienceSeconds = 10.0

    /// Submits one event alone, waits until as many are delivered as `delivered` says and the log is quiet, and returns
    /// its new pages; nil where the log started anew meanwhile. Throws `BenchFailure` or `SystemError`.
    static func measure(_ daemon: BenchDaemon, until delivered: Int?, _ events: inout EventLines) throws -> Double? {
        let clock = SystemClock()
        let before = try quiet(daemon)
        try daemon.submitAlone(events.next())
        let began = clock.monotonicNanoseconds
        while let delivered, try daemon.count("delivered") < delivered {
            guard Double(clock.monotonicNanoseconds - began) < patienceSeconds * 1e9 else {
                throw BenchFailure("kleosd did not deliver one event within \(Int(patienceSeconds)) s")
            }
            usleep(5_000)
        }
        return try quiet(daemon).added(since: before).map { Double($0) }
    }

    /// The log once it has stopped growing; after ten seconds as it is then. Throws `SystemError`.
    private static func quiet(_ daemon: BenchDaemon) throws(SystemError) -> WalFrames {
        var last = try daemon.wal()
        for _ in 0..<150 {
            usleep(quietMicroseconds)
            let now = try daemon.wal()
            if now == last { break }
            last = now
        }
        return last
    }
}
