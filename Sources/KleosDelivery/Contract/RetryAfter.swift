import KleosModel

/// The header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
package enum RetryAfter {
    /// Milliseconds to wait, clamped to 0 … 24 h; nil for what is neither.
    package static func milliseconds(_ text: String, nowMilliseconds: Int64) -> Int64? {
        let words = text.split { $0 == " " || $0 == "\t" }
        if words.count == 1, let trimmed = words.first, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than fit are simply a long time.
            let seconds = Int64(trimmed) ?? Int64.max
            return clamp(seconds > 86_400 ? RetryPolicy.maximumRetryAfterMilliseconds : seconds * 1000)
        }
        return date(text).map { clamp($0 - nowMilliseconds) }
    }

    private static func clamp(_ milliseconds: Int64) -> Int64 {
        min(max(0, milliseconds), RetryPolicy.maximumRetryAfterMilliseconds)
    }

    /// An IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = months.firstIndex(of: String(parts[2])).map({ $0 + 1 })
        else { return nil }
        return Timestamp.milliseconds(
            text: "\(parts[3])-\(month < 10 ? "0" : "")\(month)-\(parts[1])T\(parts[4])Z")
    }
}
