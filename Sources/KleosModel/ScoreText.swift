/// Scores as people read them.
package enum ScoreText {
    /// `value` in `format`: `8,080`, `12.345 s`, `1:02.345`, `1:02:03`.
    package static func text(_ value: ScoreValue, format: ScoreFormat) -> String {
        switch format {
        case .number: number(value)
        case .milliseconds: time(value.units, fractionDigits: value.decimals + 3)
        case .seconds: time(value.units, fractionDigits: value.decimals)
        }
    }

    /// `value` as `leaderboard` shows it; as a number where there is none.
    package static func text(_ value: ScoreValue, leaderboard: Leaderboard?) -> String {
        text(value, format: leaderboard?.format ?? .number)
    }

    private static func number(_ value: ScoreValue) -> String {
        let parts = value.description.split(separator: ".", maxSplits: 1)
        let digits = parts[0].drop { $0 == "-" }
        let sign = value.units < 0 ? "-" : ""
        let fraction = parts.count > 1 ? ".\(parts[1])" : ""
        return sign + grouped(String(digits)) + fraction
    }

    private static func grouped(_ digits: String) -> String {
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return result
    }

    private static func time(_ units: Int64, fractionDigits: Int) -> String {
        var scale: UInt64 = 1
        for _ in 0..<fractionDigits { scale *= 10 }
        let magnitude = units.magnitude
        let seconds = magnitude / scale
        let fraction = fractionDigits > 0 ? "." + padded(magnitude % scale, fractionDigits) : ""
        let sign = units < 0 ? "-" : ""
        let minutes = seconds / 60
        if minutes == 0 { return "\(sign)\(seconds)\(fraction) s" }
        let tail = padded(seconds % 60, 2) + fraction
        if minutes < 60 { return "\(sign)\(minutes):\(tail)" }
        return "\(sign)\(minutes / 60):\(padded(minutes % 60, 2)):\(tail)"
    }

    private static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
