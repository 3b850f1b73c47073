/// What a run measured: subjects in the order in which they came, with one value for each metric and round.
package struct Ledger: Sendable {
    /// The subjects, in order.
    package private(set) var subjects: [String] = []
    /// What could not be measured, with the reason; for people.
    package private(set) var skipped: [String] = []
    private var values: [String: [Metric: [Double]]] = [:]

    /// Makes an empty ledger.
    package init() {}

    /// Adds one value; a nil value, which could not be read, is left out.
    package mutating func add(_ subject: String, _ metric: Metric, _ value: Double?) {
        guard let value else { return }
        if values[subject] == nil { subjects.append(subject) }
        values[subject, default: [:]][metric, default: []].append(value)
    }

    /// Notes what could not be measured, and why; once, however often it is said.
    package mutating func skip(_ what: String) {
        if !skipped.contains(what) { skipped.append(what) }
    }

    /// All values of a subject, in the order in which they were added.
    package func all(_ subject: String, _ metric: Metric) -> [Double] {
        values[subject]?[metric] ?? []
    }

    /// The median over the rounds; nil where nothing was measured.
    package func median(_ subject: String, _ metric: Metric) -> Double? {
        Statistics.median(all(subject, metric))
    }

    /// The highest over the rounds; nil where nothing was measured.
    package func highest(_ subject: String, _ metric: Metric) -> Double? {
        all(subject, metric).max()
    }
}
