/// What a player has, and what a finished game adds to it. Pure.
package struct PlayerRecord: Sendable, Equatable {
    /// Something that a game earned.
    package enum Award: Sendable, Equatable {
        /// A won game's time.
        case time(Level, milliseconds: Int64, isBest: Bool)
        case unlocked(AchievementID)
        /// So many steps of a counted achievement; `isLast` where they unlock it.
        case steps(AchievementID, Int64, isLast: Bool)

        /// Whether it is a game's time.
        var isTime: Bool { if case .time = self { true } else { false } }
    }

    /// Games and wins over all time.
    package private(set) var career = Career()
    /// Achievements that are not awarded again.
    package private(set) var earned: Set<AchievementID> = []
    /// Best times in milliseconds.
    package private(set) var best: [Level: Int64] = [:]

    /// A record of a player who has nothing.
    package init() {}

    /// Takes note of an achievement that the player has, or has a part of, already.
    package mutating func learn(_ id: AchievementID, progress: Int?, steps: Int64?) {
        if progress == 100 { earned.insert(id) }
        guard let steps, let total = AchievementRules.counted[id] else { return }
        if steps >= total { earned.insert(id) }
        if [.hundredGames, .thousandGames].contains(id) {
            career.games = max(career.games, steps)
        } else {
            career.wins = max(career.wins, steps)
        }
    }

    /// Takes note of a best time that the player has already.
    package mutating func learn(_ level: Level, milliseconds: Int64) {
        best[level] = min(milliseconds, best[level] ?? milliseconds)
    }

    /// Counts a game that is over, and returns what it earned.
    package mutating func finish(_ facts: MinesweeperGame.Facts) -> [Award] {
        career.add(facts)
        var awards: [Award] = []
        if facts.isWon {
            let isBest = facts.milliseconds < best[facts.level] ?? Int64.max
            if isBest { best[facts.level] = facts.milliseconds }
            awards.append(.time(facts.level, milliseconds: facts.milliseconds, isBest: isBest))
        }
        let new = AchievementRules.earned(facts, career: career).subtracting(earned)
        for id in new.sorted(by: { $0.rawValue < $1.rawValue }) {
            earned.insert(id)
            awards.append(.unlocked(id))
        }
        for (id, steps) in AchievementRules.progress(of: career).sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !earned.contains(id) {
            let isLast = steps == AchievementRules.counted[id]
            if isLast { earned.insert(id) }
            awards.append(.steps(id, steps, isLast: isLast))
        }
        return awards
    }

    /// How far a counted achievement is, in steps; nil for others.
    package func steps(of id: AchievementID) -> Int64? {
        guard let total = AchievementRules.counted[id] else { return nil }
        return min(total, [.hundredGames, .thousandGames].contains(id) ? career.games : career.wins)
    }
}
