package import KleosModel

/// A leaderboard as it stands.
package struct Board: Sendable, Equatable {
    /// One line of a board.
    package struct Entry: Sendable, Equatable {
        /// 1-based; equal values share a rank.
        package var rank: Int
        package var player: String
        package var value: ScoreValue
    }

    package let game: String
    package let leaderboard: String
    package let order: SortOrder
    package let keep: KeepRule
    /// How many scores took effect here.
    package private(set) var acceptedCount = 0
    private var standings: [ExactKey: Standing] = [:]
    /// The value of every entry, ascending, so that a rank is found without looking at all of them.
    private var sortedValues: [ScoreValue] = []

    private struct Standing: Equatable {
        var value: ScoreValue
        var best: ScoreValue
        var every: [ScoreValue]
    }

    /// What a score changed.
    struct Effect: Equatable {
        var rank: Int
        var best: ScoreValue
        var improved: Bool
    }

    /// Makes an empty board.
    init(game: String, leaderboard: String, order: SortOrder, keep: KeepRule) {
        self.game = game
        self.leaderboard = leaderboard
        self.order = order
        self.keep = keep
    }

    /// The entries, best first; players with equal values by name.
    package var entries: [Entry] {
        let all: [(player: String, value: ScoreValue)] = standings.flatMap { player, standing in
            keep == .every ? standing.every.map { (player.text, $0) } : [(player.text, standing.value)]
        }
        let sorted = all.sorted { left, right in
            if isBetter(left.value, than: right.value) { return true }
            if isBetter(right.value, than: left.value) { return false }
            return left.player.utf8.lexicographicallyPrecedes(right.player.utf8)
        }
        var entries: [Entry] = []
        entries.reserveCapacity(sorted.count)
        for (index, line) in sorted.enumerated() {
            let sharesRank = entries.last.map { $0.value == line.value } ?? false
            let rank = sharesRank ? entries[index - 1].rank : index + 1
            entries.append(Entry(rank: rank, player: line.player, value: line.value))
        }
        return entries
    }

    /// The value that `player` holds (with Keep=every the best); nil without one.
    package func value(of player: String) -> ScoreValue? {
        standings[ExactKey(player)].map { keep == .every ? $0.best : $0.value }
    }

    /// Lets a score take effect. Throws `Rejection` where a sum leaves 64 bits; then nothing changed.
    mutating func add(_ value: ScoreValue, player: String) throws(Rejection) -> Effect {
        let old = standings[ExactKey(player)]
        var new = old ?? Standing(value: value, best: value, every: [])
        let beatsBest = old.map { isBetter(value, than: $0.best) } ?? true
        if beatsBest { new.best = value }
        switch keep {
        case .best: new.value = new.best
        case .latest: new.value = value
        case .sum: new.value = try old.map { old throws(Rejection) in try Self.sum(old.value, value) } ?? value
        case .every:
            new.value = value
            new.every.append(value)
        }
        if keep != .every, let old { removeValue(old.value) }
        insertValue(new.value)
        standings[ExactKey(player)] = new
        acceptedCount += 1
        let improved = keep == .sum || keep == .latest ? new.value != old?.value : beatsBest
        return Effect(
            rank: rank(of: new.value), best: keep == .every ? new.best : new.value, improved: improved)
    }

    private func isBetter(_ left: ScoreValue, than right: ScoreValue) -> Bool {
        order == .ascending ? left < right : left > right
    }

    private func rank(of value: ScoreValue) -> Int {
        switch order {
        case .ascending: lowerBound(value) + 1
        case .descending: sortedValues.count - upperBound(value) + 1
        }
    }

    private mutating func insertValue(_ value: ScoreValue) {
        sortedValues.insert(value, at: upperBound(value))
    }

    private mutating func removeValue(_ value: ScoreValue) {
        sortedValues.remove(at: lowerBound(value))
    }

    private func lowerBound(_ value: ScoreValue) -> Int { partition { $0 < value } }
    private func upperBound(_ value: ScoreValue) -> Int { partition { $0 <= value } }

    /// How many values satisfy `comesFirst`, which must hold for a prefix of them.
    private func partition(_ comesFirst: (ScoreValue) -> Bool) -> Int {
        var low = 0
        var high = sortedValues.count
        while low < high {
            let middle = (low + high) / 2
            if comesFirst(sortedValues[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func sum(_ left: ScoreValue, _ right: ScoreValue) throws(Rejection) -> ScoreValue {
        let decimals = max(left.decimals, right.decimals)
        guard let first = scaled(left, decimals), let second = scaled(right, decimals) else { throw tooLarge }
        let (units, overflowed) = first.addingReportingOverflow(second)
        guard !overflowed else { throw tooLarge }
        return ScoreValue(units: units, decimals: decimals)
    }

    private static var tooLarge: Rejection { Rejection(422, "out-of-range", "the sum leaves 64 bits") }

    private static func scaled(_ value: ScoreValue, _ decimals: Int) -> Int64? {
        var units = value.units
        for _ in value.decimals..<decimals {
            let (product, overflowed) = units.multipliedReportingOverflow(by: 10)
            if overflowed { return nil }
            units = product
        }
        return units
    }
}
