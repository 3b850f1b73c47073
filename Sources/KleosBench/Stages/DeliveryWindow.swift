import Glibc
import KleosSupport

/// Deliveries that were confirmed on disk within a time, and what they cost the daemon.
struct DeliveryWindow {
    let count: Int
    let seconds: Double
    let used: ProcessUsage

    var perSecond: Double { seconds > 0 ? Double(count) / seconds : 0 }

    /// Deliveries after which all connections are made and everything is in its stride.
    private static let warm = 200
    /// With fewer waiting there may be too few for all places in flight.
    private static let fewest = 200
    private static let patienceSeconds = 30.0

    /// Waits until deliveries are in their stride, and watches them for `seconds`, or until hardly any wait. Throws
    /// `BenchFailure` or `SystemError`.
    static func measure(_ daemon: BenchDaemon, seconds: Double) throws -> DeliveryWindow {
        let clock = SystemClock()
        let asked = clock.monotonicNanoseconds
        func passed(_ since: Int64) -> Double { Double(clock.monotonicNanoseconds - since) / 1e9 }

        let none = try daemon.count("delivered")
        var first = none
        while first < none + warm {
            guard passed(asked) < patienceSeconds else {
                throw BenchFailure("kleosd delivered \(first - none) events in \(Int(patienceSeconds)) s")
            }
            usleep(10_000)
            first = try daemon.count("delivered")
        }
        let began = clock.monotonicNanoseconds
        let before = try daemon.usage()
        repeat {
            usleep(50_000)
        } while try passed(began) < seconds && daemon.count("waiting", "ready") > fewest
        let last = try daemon.count("delivered")
        let elapsed = passed(began)
        return DeliveryWindow(count: last - first, seconds: elapsed, used: try daemon.usage().since(before))
    }
}
