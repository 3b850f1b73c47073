/// What a load did: how much, in what time, and how long each took.
package struct LoadResult: Sendable {
    /// What was answered.
    package private(set) var count: Int
    /// From the first request to the last answer.
    package private(set) var seconds: Double
    /// From sending to the answer, in microseconds; for all of them, in no order.
    package private(set) var latencies: [Double]
    private var ownTotal: Double

    /// Nothing, to which results are added.
    package static var none: LoadResult { LoadResult(count: 0, seconds: 0, latencies: [], ownMicroseconds: 0) }

    /// Makes a result; `ownMicroseconds` is the processor time of this program meanwhile.
    package init(count: Int, seconds: Double, latencies: [Double], ownMicroseconds: Double) {
        self.count = count
        self.seconds = seconds
        self.latencies = latencies
        ownTotal = ownMicroseconds
    }

    /// Processor time of this program for each, in microseconds.
    package var ownMicroseconds: Double { count > 0 ? ownTotal / Double(count) : 0 }

    /// Adds what was done at another time.
    package static func += (sum: inout LoadResult, part: LoadResult) {
        sum.count += part.count
        sum.seconds += part.seconds
        sum.latencies += part.latencies
        sum.ownTotal += part.ownTotal
    }

    /// How many a second.
    package var perSecond: Double { seconds > 0 ? Double(count) / seconds : 0 }

    /// One line of `name=value` pairs.
    package func line(_ name: String) -> String {
        func whole(_ value: Double?) -> Int { Int(value ?? 0) }
        return "name=\(name) count=\(count) per_second=\(whole(perSecond)) "
            + "p50_us=\(whole(Statistics.percentile(0.5, of: latencies))) "
            + "p99_us=\(whole(Statistics.percentile(0.99, of: latencies))) client_cpu_us=\(whole(ownMicroseconds))\n"
    }
}

extension Ledger {
    /// Adds rate and latencies of a load, and its ratio to `base`, the rate that it is compared with.
    package mutating func add(_ subject: String, _ result: LoadResult, base: Double?) {
        add(subject, .perSecond, result.perSecond)
        if let base, base > 0 { add(subject, .ratio, result.perSecond / base) }
        add(subject, .p50Microseconds, Statistics.percentile(0.5, of: result.latencies))
        add(subject, .p99Microseconds, Statistics.percentile(0.99, of: result.latencies))
    }

    /// Adds what the daemon used for each of `count`, and the most memory that it held.
    package mutating func add(_ subject: String, _ usage: ProcessUsage, count: Int, mebibytes: Double) {
        if count > 0 {
            add(subject, .cpuMicroseconds, usage.cpuMicroseconds / Double(count))
            add(subject, .writtenKibibytes, usage.writtenBytes / 1_024 / Double(count))
        }
        add(subject, .memoryMebibytes, mebibytes)
    }
}
