/// Spans of time as systemd spells them: `2s`, `1h 30min`, `30d`; a bare number is seconds.
package enum DurationText {
    private static let units: [(milliseconds: Int64, names: [String])] = [
        (604_800_000, ["w", "week", "weeks"]),
        (86_400_000, ["d", "day", "days"]),
        (3_600_000, ["h", "hr", "hour", "hours"]),
        (60_000, ["min", "m", "minute", "minutes"]),
        (1_000, ["s", "sec", "second", "seconds", ""]),
        (1, ["ms", "msec"]),
    ]

    /// Reads `text`; nil where it is no duration or is beyond 64 bits.
    package static func milliseconds(_ text: String) -> Int64? {
        var rest = Substring(text).trimmed
        guard !rest.isEmpty else { return nil }
        var total: Int64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.utf8.allSatisfy(\.isDigit) }
            rest = rest.dropFirst(digits.count).trimmed
            let name = rest.prefix { $0.utf8.allSatisfy(\.isLetter) }
            rest = rest.dropFirst(name.count).trimmed
            guard let number = Int64(digits),
                let unit = units.first(where: { $0.names.contains(String(name)) })
            else { return nil }
            let (product, overflowed) = number.multipliedReportingOverflow(by: unit.milliseconds)
            let (sum, overflowedAgain) = total.addingReportingOverflow(product)
            guard !overflowed, !overflowedAgain else { return nil }
            total = sum
        }
        return total
    }

    /// Spells `milliseconds`, exactly and as short as it goes.
    static func text(_ milliseconds: Int64) -> String {
        guard milliseconds > 0 else { return "0" }
        var rest = milliseconds
        var parts: [String] = []
        for unit in units.dropFirst() where rest >= unit.milliseconds {
            parts.append("\(rest / unit.milliseconds)\(unit.names[0])")
            rest %= unit.milliseconds
        }
        return parts.joined(separator: " ")
    }
}

/// Numbers of bytes: `4096`, `64K`, `512M`, `2G`, powers of 1024.
package enum SizeText {
    private static let suffixes: [(bytes: Int64, name: String)] = [
        (1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"),
    ]

    /// Reads `text`; nil where it is no size or is beyond 64 bits.
    package static func bytes(_ text: String) -> Int64? {
        let suffix = suffixes.first { text.hasSuffix($0.name) }
        let digits = suffix == nil ? Substring(text) : text.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit), let number = Int64(digits) else { return nil }
        let (product, overflowed) = number.multipliedReportingOverflow(by: suffix?.bytes ?? 1)
        return overflowed ? nil : product
    }

    /// Spells `bytes`, exactly and with the greatest suffix that goes.
    static func text(_ bytes: Int64) -> String {
        guard bytes > 0, let suffix = suffixes.first(where: { bytes % $0.bytes == 0 }) else { return String(bytes) }
        return "\(bytes / suffix.bytes)\(suffix.name)"
    }
}
