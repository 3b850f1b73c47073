/// A bound on a measured value.
package enum Bound: Sendable, Equatable {
    case atLeast(Double)
    case atMost(Double)

    /// Whether `value` keeps it.
    package func isKept(by value: Double) -> Bool {
        switch self {
        case .atLeast(let least): value >= least
        case .atMost(let most): value <= most
        }
    }

    /// The bound's number.
    package var limit: Double {
        switch self {
        case .atLeast(let least): least
        case .atMost(let most): most
        }
    }
}

/// Whether what was measured is what it must be.
package enum Judgement: String, Sendable {
    case met = "met"
    case notMet = "not met"
    case notMeasured = "not measured"
}

/// One line of the table of aims: a value, what it must be and what it is to become.
package struct Aim: Sendable {
    /// What the value is, for people.
    package let title: String
    /// How the value is written.
    package let metric: Metric
    /// What was measured; nil where the run did not measure it.
    package let value: Double?
    /// What it must be.
    package let must: Bound
    /// What it is to become, nearest first.
    package let aims: [Bound]

    /// Whether the value is a ratio to D, which tells nothing while D itself swings.
    package let isInD: Bool

    /// Makes a line.
    package init(
        _ title: String, _ metric: Metric, _ value: Double?, must: Bound, aims: [Bound] = [], isInD: Bool = false
    ) {
        self.title = title
        self.metric = metric
        self.value = value
        self.must = must
        self.aims = aims
        self.isInD = isInD
    }

    /// Whether the value is what it must be.
    package var judgement: Judgement {
        guard let value else { return .notMeasured }
        return must.isKept(by: value) ? .met : .notMet
    }

    /// How many of the aims are reached; each is harder than the one before.
    package var reached: Int {
        guard let value else { return 0 }
        return aims.prefix { $0.isKept(by: value) }.count
    }
}
