/// What is measured of a subject.
package enum Metric: String, Sendable, CaseIterable {
    case perSecond
    case ratio
    case p50Microseconds
    case p99Microseconds
    case cpuMicroseconds
    case writtenKibibytes
    case syncs
    case memoryMebibytes
    case pages
    case milliseconds
    case waiting

    /// The head of its column, with the unit.
    package var heading: String {
        switch self {
        case .perSecond: "a second"
        case .ratio: "ratio"
        case .p50Microseconds: "p50 µs"
        case .p99Microseconds: "p99 µs"
        case .cpuMicroseconds: "CPU µs each"
        case .writtenKibibytes: "KiB written each"
        case .syncs: "syncs each"
        case .memoryMebibytes: "RssAnon MiB"
        case .pages: "pages"
        case .milliseconds: "ms"
        case .waiting: "waiting"
        }
    }

    /// `value` as people read it: large numbers whole, small ones with what distinguishes them.
    package func text(_ value: Double) -> String {
        let places =
            switch self {
            case .perSecond, .p50Microseconds, .p99Microseconds, .waiting: 0
            case .ratio: 2
            case .syncs: 3
            case .cpuMicroseconds, .writtenKibibytes, .memoryMebibytes, .pages, .milliseconds: 1
            }
        return Decimal.text(value, places: places)
    }
}

/// Decimal numbers without a locale.
package enum Decimal {
    /// `value` rounded to `places` digits after the point, thousands set apart by commas.
    package static func text(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "-" }
        var power = 1
        for _ in 0..<places { power *= 10 }
        let scaled = Int((abs(value) * Double(power)).rounded())
        var whole = String(scaled / power)
        var from = whole.count - 3
        while from > 0 {
            whole.insert(",", at: whole.index(whole.startIndex, offsetBy: from))
            from -= 3
        }
        let fraction = String(scaled % power)
        let sign = value < 0 && scaled > 0 ? "-" : ""
        return sign + whole
            + (places == 0 ? "" : "." + String(repeating: "0", count: places - fraction.count) + fraction)
    }
}
