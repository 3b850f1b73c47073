/// Medians and percentiles of what was measured.
package enum Statistics {
    /// The middle of `values`, the mean of both middles where their count is even; nil for none.
    package static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest of `values` that at least `share` (0 to 1) of them do not exceed; nil for none.
    package static func percentile(_ share: Double, of values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let rank = (Double(values.count) * share).rounded(.up)
        return values.sorted()[min(values.count - 1, max(0, Int(rank) - 1))]
    }
}
