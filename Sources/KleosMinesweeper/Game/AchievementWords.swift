extension AchievementID {
    /// What the game's file calls it, and what has to be done for it.
    package var words: (title: String, description: String) {
        switch self {
        case .firstSteps: ("First Steps", "Play a game to its end")
        case .firstWin: ("Minesweeper", "Win a game")
        case .beginnerWin: ("Field Exercise", "Win a Beginner game")
        case .intermediateWin: ("Marked Path", "Win an Intermediate game")
        case .advancedWin: ("Cleared Zone", "Win an Advanced game")
        case .tenWins: ("Ten Clean Fields", "Win ten games")
        case .hundredWins: ("A Hundred Clean Fields", "Win a hundred games")
        case .thousandWins: ("A Thousand Clean Fields", "Win a thousand games")
        case .hundredGames: ("Regular", "Play a hundred games")
        case .thousandGames: ("Veteran", "Play a thousand games")
        case .streakOfThree: ("Three in a Row", "Win three games in a row")
        case .streakOfFive: ("Five in a Row", "Win five games in a row")
        case .streakOfTen: ("Ten in a Row", "Win ten games in a row")
        case .bareHands: ("Bare Hands", "Win a game without setting a flag")
        case .pureReason: ("Pure Reason", "Win an Intermediate or Advanced game without a guess")
        case .luckyThree: ("Fortune's Favourite", "Win a game in which three guesses went well")
        case .againstTheOdds: ("Against the Odds", "Win a game after a guess with a risk of a half or more")
        case .wideOpen: ("Wide Open", "Open forty cells with one move")
        case .halfTheField: ("Half the Field", "Open half of a field with one move")
        case .coldStart: ("Cold Start", "Win a game whose first move opened a single cell")
        case .theSix: ("Surrounded by Six", "Uncover a six")
        case .theSeven: ("Surrounded by Seven", "Uncover a seven")
        case .theEight: ("The Eye of the Storm", "Uncover an eight")
        case .impossibleMission: ("Impossible Mission", "Win by uncovering a cell surrounded by eight mines")
        case .soClose: ("So Close", "Lose with a single cell to go")
        case .secondThoughts: ("Second Thoughts", "Lose with the second move")
        case .chordWin: ("Full Chord", "Win a game by opening all around a number at once")
        case .bombDisposal: ("Bomb Disposal", "Win a game with a flag on every mine")
        case .quickBeginner: ("Quick Step", "Win a Beginner game in less than ten seconds")
        case .quickIntermediate: ("Quick March", "Win an Intermediate game in less than a minute")
        case .quickAdvanced: ("Forced March", "Win an Advanced game in less than three minutes")
        }
    }
}

extension Level {
    /// What the game's file calls it.
    package var title: String {
        switch self {
        case .beginner: "Beginner"
        case .intermediate: "Intermediate"
        case .advanced: "Advanced"
        }
    }
}
