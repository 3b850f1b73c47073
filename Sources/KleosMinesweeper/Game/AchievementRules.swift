/// The thirty-one achievements, by their ids in the game's file.
package enum AchievementID: String, Sendable, CaseIterable {
    case firstSteps = "first-steps"
    case firstWin = "first-win"
    case beginnerWin = "beginner-win"
    case intermediateWin = "intermediate-win"
    case advancedWin = "advanced-win"
    case tenWins = "ten-wins"
    case hundredWins = "hundred-wins"
    case thousandWins = "thousand-wins"
    case hundredGames = "hundred-games"
    case thousandGames = "thousand-games"
    case streakOfThree = "streak-of-three"
    case streakOfFive = "streak-of-five"
    case streakOfTen = "streak-of-ten"
    case bareHands = "bare-hands"
    case pureReason = "pure-reason"
    case luckyThree = "lucky-three"
    case againstTheOdds = "against-the-odds"
    case wideOpen = "wide-open"
    case halfTheField = "half-the-field"
    case coldStart = "cold-start"
    case theSix = "the-six"
    case theSeven = "the-seven"
    case theEight = "the-eight"
    case impossibleMission = "impossible-mission"
    case soClose = "so-close"
    case secondThoughts = "second-thoughts"
    case chordWin = "chord-win"
    case bombDisposal = "bomb-disposal"
    case quickBeginner = "quick-beginner"
    case quickIntermediate = "quick-intermediate"
    case quickAdvanced = "quick-advanced"
}

/// What a player has achieved over all games.
package struct Career: Sendable, Equatable {
    package var games: Int64
    package var wins: Int64
    /// Wins in a row, up to now.
    package var streak = 0

    /// Goes on from so many games and wins.
    package init(games: Int64 = 0, wins: Int64 = 0) {
        self.games = games
        self.wins = wins
    }

    /// Counts a game that is over.
    package mutating func add(_ facts: MinesweeperGame.Facts) {
        games += 1
        wins += facts.isWon ? 1 : 0
        streak = facts.isWon ? streak + 1 : 0
    }
}

/// Which achievements a game earns. Pure.
package enum AchievementRules {
    /// Achievements that are counted, with how many steps unlock them.
    package static let counted: [AchievementID: Int64] = [
        .tenWins: 10, .hundredWins: 100, .thousandWins: 1_000, .hundredGames: 100, .thousandGames: 1_000,
    ]

    /// The achievements that one game earns whole; `career` has the game counted already.
    package static func earned(_ facts: MinesweeperGame.Facts, career: Career) -> Set<AchievementID> {
        var earned: Set<AchievementID> = [.firstSteps]
        if facts.largestOpening >= 40 { earned.insert(.wideOpen) }
        let safeCells = facts.level.width * facts.level.height - facts.level.mines
        if facts.largestOpening * 2 >= safeCells { earned.insert(.halfTheField) }
        if facts.greatestNumber >= 6 { earned.insert(.theSix) }
        if facts.greatestNumber >= 7 { earned.insert(.theSeven) }
        if facts.greatestNumber >= 8 { earned.insert(.theEight) }
        return earned.union(facts.isWon ? won(facts, career: career) : lost(facts))
    }

    private static func lost(_ facts: MinesweeperGame.Facts) -> Set<AchievementID> {
        var earned: Set<AchievementID> = []
        if facts.remainingSafe == 1 { earned.insert(.soClose) }
        if facts.clicks == 2 { earned.insert(.secondThoughts) }
        return earned
    }

    private static func won(_ facts: MinesweeperGame.Facts, career: Career) -> Set<AchievementID> {
        var earned: Set<AchievementID> = [.firstWin]
        switch facts.level {
        case .beginner: earned.insert(.beginnerWin)
        case .intermediate: earned.insert(.intermediateWin)
        case .advanced: earned.insert(.advancedWin)
        }
        if career.streak >= 3 { earned.insert(.streakOfThree) }
        if career.streak >= 5 { earned.insert(.streakOfFive) }
        if career.streak >= 10 { earned.insert(.streakOfTen) }
        if !facts.usedFlags { earned.insert(.bareHands) }
        if facts.guesses == 0, facts.level != .beginner { earned.insert(.pureReason) }
        if facts.guesses >= 3 { earned.insert(.luckyThree) }
        // A risk of a half comes out of a sum of many terms, and may miss it by their rounding.
        if facts.greatestRisk >= 0.5 - 1e-9 { earned.insert(.againstTheOdds) }
        if facts.firstOpening == 1 { earned.insert(.coldStart) }
        if facts.winningNumber == 8 { earned.insert(.impossibleMission) }
        if facts.wonByChord { earned.insert(.chordWin) }
        if facts.isFlaggedRight { earned.insert(.bombDisposal) }
        return earned.union(quick(facts))
    }

    private static func quick(_ facts: MinesweeperGame.Facts) -> Set<AchievementID> {
        switch facts.level {
        case .beginner: facts.milliseconds < 10_000 ? [.quickBeginner] : []
        case .intermediate: facts.milliseconds < 60_000 ? [.quickIntermediate] : []
        case .advanced: facts.milliseconds < 180_000 ? [.quickAdvanced] : []
        }
    }

    /// How far the counted achievements are: only those whose news is worth telling, every step up to ten, then every
    /// tenth of the way.
    package static func progress(of career: Career) -> [AchievementID: Int64] {
        var result: [AchievementID: Int64] = [:]
        for (id, total) in counted {
            let count = [.hundredGames, .thousandGames].contains(id) ? career.games : career.wins
            let stride = max(1, total / 10)
            if count > 0, count <= total, count % stride == 0 { result[id] = count }
        }
        return result
    }
}
