import KleosModel

extension MergeRule {
    /// The rule's number in the database.
    var code: Int64 {
        switch self {
        case .none: 0
        case .best(.ascending): 1
        case .best(.descending): 2
        case .latest: 3
        }
    }

    /// Reads a rule's number.
    init(code: Int64) {
        switch code {
        case 1: self = .best(.ascending)
        case 2: self = .best(.descending)
        case 3: self = .latest
        default: self = .none
        }
    }
}

extension Statement {
    /// The column as a number of decimals; one that no value has is damage, which no value can be made of.
    func decimals(_ column: Int32) -> Int {
        if let decimals = Int(exactly: integer(column)), (0...ScoreValue.maximumDecimals).contains(decimals) {
            return decimals
        }
        reportDamage("a value has more decimals than there are")
        return 0
    }
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

/// A subject's or mark's measure as the database keeps it.
struct StoredMeasure: Equatable {
    var name: String
    var amount: Int64
    var decimals: Int

    init(_ subject: Subject) {
        switch subject {
        case .achievement(_, .increment(let count)): self.init(name: "increment", amount: count, decimals: 0)
        default: self.init(subject.measure ?? .steps(0))
        }
    }

    init(_ measure: StandingMeasure) {
        switch measure {
        case .value(let value): self.init(name: "value", amount: value.units, decimals: value.decimals)
        case .progress(let percent): self.init(name: "progress", amount: Int64(percent), decimals: 0)
        case .steps(let count): self.init(name: "steps", amount: count, decimals: 0)
        }
    }

    init(name: String, amount: Int64, decimals: Int) {
        self.name = name
        self.amount = amount
        self.decimals = decimals
    }

    /// Reads the columns name, amount and decimals, which begin at `column`.
    init(_ row: Statement, _ column: Int32) {
        self.init(
            name: row.text(column), amount: row.integer(column + 1), decimals: row.decimals(column + 2))
    }

    /// The subject that was stored for `item`.
    func subject(item: String) -> Subject {
        switch name {
        case "value": .score(leaderboard: item, value: ScoreValue(units: amount, decimals: decimals))
        case "progress": .achievement(id: item, change: .progress(Int(amount)))
        case "steps": .achievement(id: item, change: .steps(amount))
        default: .achievement(id: item, change: .increment(amount))
        }
    }

    /// The mark's measure; nil for an increment.
    var measure: StandingMeasure? { subject(item: "").measure }
}

/// Which of two events of a stream stays.
enum MergeOrder {
    /// Whether the two can replace each other at all: values with values, percent with percent, steps with steps.
    static func areComparable(_ left: StandingMeasure, _ right: StandingMeasure) -> Bool {
        switch (left, right) {
        case (.value, .value), (.progress, .progress), (.steps, .steps): true
        default: false
        }
    }

    /// Whether `left` is strictly better than `right`; both must be comparable.
    static func isBetter(_ left: StandingMeasure, than right: StandingMeasure, _ order: SortOrder) -> Bool {
        switch (left, right) {
        case (.value(let left), .value(let right)): order == .ascending ? left < right : left > right
        case (.progress(let left), .progress(let right)): left > right
        case (.steps(let left), .steps(let right)): left > right
        default: false
        }
    }

    /// Whether a mark gives way to a new one: under Keep=best to a better one, under Keep=latest to any. A complete
    /// achievement gives way to nothing.
    static func replaces(_ new: StandingMeasure, _ old: StandingMeasure?, _ merge: MergeRule) -> Bool {
        guard let old else { return merge != .none }
        switch merge {
        case .none: return false
        case .latest: return true
        case .best(let order):
            if areComparable(new, old) { return isBetter(new, than: old, order) }
            return old != .progress(100)
        }
    }
}
