import KleosModel

/// A subject's or mark's measure as the database keeps it.
struct StoredMeasure: Equatable {
    /// What is measured.
    enum Kind: String, CodedWord {
        case value
        case progress
        case steps
        case increment

        static let words = Array(allCases)

        var code: Int64 {
            switch self {
            case .value: 0
            case .progress: 1
            case .steps: 2
            case .increment: 3
            }
        }
    }

    var kind: Kind
    var amount: Int64
    var decimals: Int

    init(_ subject: Subject) {
        switch subject {
        case .achievement(_, .increment(let count)): self.init(kind: .increment, amount: count, decimals: 0)
        default: self.init(subject.measure ?? .steps(0))
        }
    }

    init(_ measure: StandingMeasure) {
        switch measure {
        case .value(let value): self.init(kind: .value, amount: value.units, decimals: value.decimals)
        case .progress(let percent): self.init(kind: .progress, amount: Int64(percent), decimals: 0)
        case .steps(let count): self.init(kind: .steps, amount: count, decimals: 0)
        }
    }

    init(kind: Kind, amount: Int64, decimals: Int) {
        self.kind = kind
        self.amount = amount
        self.decimals = decimals
    }

    /// The subject that was stored for `item`.
    func subject(item: String) -> Subject {
        switch kind {
        case .value: .score(leaderboard: item, value: ScoreValue(units: amount, decimals: decimals))
        case .progress: .achievement(id: item, change: .progress(Int(clamping: amount)))
        case .steps: .achievement(id: item, change: .steps(amount))
        case .increment: .achievement(id: item, change: .increment(amount))
        }
    }

    /// The mark's measure; nil for an increment.
    var measure: StandingMeasure? { subject(item: "").measure }
}

extension Subject {
    /// How far the subject brings its player; nil for what only adds to what was there.
    var measure: StandingMeasure? {
        switch self {
        case .score(_, let value): .value(value)
        case .achievement(_, .progress(let percent)): .progress(percent)
        case .achievement(_, .steps(let count)): .steps(count)
        case .achievement(_, .increment): nil
        }
    }
}
