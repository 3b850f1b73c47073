import KleosModel

/// The header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
package enum RetryAfter {
    /// Milliseconds to wait, clamped to 0 … 24 h; nil for what is neither. Of several fields, each on a line of
    /// `text`, the longest wait counts.
    package static func milliseconds(_ text: String, nowMilliseconds: Int64) -> Int64? {
        text.split(separator: "\n").compactMap { one($0, nowMilliseconds: nowMilliseconds) }.max()
    }

    private static func one(_ text: Substring, nowMilliseconds: Int64) -> Int64? {
        let words = text.split { $0 == " " || $0 == "\t" }
        if words.count == 1, words[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than fit are simply a long time.
            let seconds = Int64(words[0]) ?? Int64.max
            return clamp(seconds > 86_400 ? RetryPolicy.maximumRetryAfterMilliseconds : seconds * 1000)
        }
        return date(words, nowMilliseconds: nowMilliseconds).map { clamp($0 - nowMilliseconds) }
    }

    private static func clamp(_ milliseconds: Int64) -> Int64 {
        min(max(0, milliseconds), RetryPolicy.maximumRetryAfterMilliseconds)
    }

    /// A date in one of the three forms that RFC 9110, section 5.6.7, has every recipient understand:
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    private static func date(_ words: [Substring], nowMilliseconds: Int64) -> Int64? {
        switch words.count {
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            return point(year: words[3], month: words[2], day: words[1], time: words[4])
        case 5 where !words[0].hasSuffix(","):
            return point(year: words[4], month: words[1], day: words[2], time: words[3])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].count == 2 else { return nil }
            let century = Timestamp.text(milliseconds: nowMilliseconds).prefix(2)
            let instant = point(year: "\(century)\(parts[2])", month: parts[1], day: parts[0], time: words[2])
            // More than fifty years ahead means the century before, which is over.
            return instant.map { $0 - nowMilliseconds > 50 * 31_557_600_000 ? nowMilliseconds : $0 }
        default: return nil
        }
    }

    private static func point(year: Substring, month: Substring, day: Substring, time: Substring) -> Int64? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let index = months.firstIndex(of: String(month)) else { return nil }
        func two(_ digits: some StringProtocol) -> String { digits.count == 1 ? "0\(digits)" : String(digits) }
        return Timestamp.milliseconds(text: "\(year)-\(two(String(index + 1)))-\(two(day))T\(time)Z")
    }
}
