import KleosModel

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

/// What a delivery is worth in its stream's contest, as bytes that sort: the greater wins. Only what begins with the
/// same byte is comparable.
enum Worth {
    /// How many kinds there are; each is a first byte.
    static let kinds: ClosedRange<UInt8> = 0...3

    /// Under Keep=latest the later is worth more, under Keep=best the better; nil for what is never merged.
    static func bytes(of measure: StandingMeasure?, merge: MergeRule, delivery: Int64) -> [UInt8]? {
        switch merge {
        case .none: nil
        case .latest: [0] + bigEndian(UInt64(bitPattern: delivery))
        case .best(let order): measure.map { bytes(of: $0, order) }
        }
    }

    private static func bytes(of measure: StandingMeasure, _ order: SortOrder) -> [UInt8] {
        switch measure {
        case .value(let value):
            var scaled = Int128(value.units)
            for _ in value.decimals..<max(value.decimals, ScoreValue.maximumDecimals) { scaled *= 10 }
            let shifted = UInt128(bitPattern: scaled) ^ (1 << 127)
            return [1] + bigEndian(order == .ascending ? ~shifted : shifted)
        case .progress(let percent): return [2] + bigEndian(UInt64(clamping: percent))
        case .steps(let count): return [3] + bigEndian(UInt64(clamping: count))
        }
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> Number(8 * $0)) }
    }

    /// Whether `left` is at least as good as `right`; nil where they are not comparable.
    static func covers(_ left: [UInt8], _ right: [UInt8]) -> Bool? {
        guard left.first == right.first else { return nil }
        return !left.lexicographicallyPrecedes(right)
    }
}
