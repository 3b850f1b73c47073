import KleosModel

/// Spans of time as people say them. Pure.
package enum AgeText {
    /// `just now`, `3 minutes ago`, `2 days ago`; a time in the future counts as now.
    package static func ago(milliseconds: Int64) -> String {
        milliseconds < 1_000 ? "just now" : "\(span(milliseconds)) ago"
    }

    /// `now`, `in 4 s`, `in 3 min`, `in 2 h`; what is due next, so that short units are enough.
    package static func until(milliseconds: Int64) -> String {
        if milliseconds <= 0 { return "now" }
        // Rounded up: what is due in 100 ms is not due in 0 s.
        let seconds = (milliseconds + 999) / 1_000
        if seconds < 120 { return "in \(seconds) s" }
        if seconds < 2 * 3_600 { return "in \(seconds / 60) min" }
        if seconds < 2 * 86_400 { return "in \(seconds / 3_600) h" }
        return "in \(seconds / 86_400) d"
    }

    /// `12 ms`, `1.5 s`; how long something took.
    package static func duration(milliseconds: Int64) -> String {
        if milliseconds < 1_000 { return "\(max(0, milliseconds)) ms" }
        if milliseconds < 60_000 { return "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s" }
        return span(milliseconds)
    }

    /// `1 second`, `3 minutes`, `5 hours`, `2 days`: the largest whole unit.
    package static func span(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        if seconds < 60 { return Counted.text(Int(seconds), "second") }
        if seconds < 3_600 { return Counted.text(Int(seconds / 60), "minute") }
        if seconds < 86_400 { return Counted.text(Int(seconds / 3_600), "hour") }
        return Counted.text(Int(seconds / 86_400), "day")
    }
}
