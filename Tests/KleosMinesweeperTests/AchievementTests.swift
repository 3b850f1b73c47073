import KleosMinesweeper
import KleosSupport
import Testing

@Suite struct AchievementTests {
    private func facts(_ level: Level = .beginner, _ change: (inout MinesweeperGame.Facts) -> Void)
        -> MinesweeperGame.Facts
    {
        var facts = MinesweeperGame.Facts(level: level)
        facts.usedFlags = true
        facts.clicks = 10
        facts.firstOpening = 5
        facts.largestOpening = 5
        facts.milliseconds = 1_000_000
        change(&facts)
        return facts
    }

    private func earned(_ facts: MinesweeperGame.Facts, streak: Int = 1) -> Set<AchievementID> {
        var career = Career(games: 5, wins: 5)
        career.streak = streak
        return AchievementRules.earned(facts, career: career)
    }

    /// What a won Beginner game earns that is remarkable in nothing.
    private static let plainWin: Set<AchievementID> = [.firstSteps, .firstWin, .beginnerWin]

    @Test func givesAPlainGameItsDue() {
        #expect(earned(facts { $0.isWon = true }) == Self.plainWin)
        #expect(earned(facts { $0.remainingSafe = 9 }) == [.firstSteps])
    }

    @Test(arguments: [
        (Level.beginner, AchievementID.beginnerWin, AchievementID.quickBeginner, Int64(10_000)),
        (.intermediate, .intermediateWin, .quickIntermediate, 60_000),
        (.advanced, .advancedWin, .quickAdvanced, 180_000),
    ])
    func knowsLevelsAndTheirTimes(level: Level, win: AchievementID, quick: AchievementID, limit: Int64) {
        func won(in milliseconds: Int64) -> Set<AchievementID> {
            earned(
                facts(level) {
                    $0.isWon = true
                    $0.guesses = 1
                    $0.milliseconds = milliseconds
                })
        }
        #expect(won(in: limit) == [.firstSteps, .firstWin, win])
        #expect(won(in: limit - 1) == [.firstSteps, .firstWin, win, quick])
    }

    @Test(
        arguments: [
            (2, []), (3, [.streakOfThree]), (5, [.streakOfThree, .streakOfFive]),
            (10, [.streakOfThree, .streakOfFive, .streakOfTen]),
        ] as [(Int, Set<AchievementID>)])
    func rewardsStreaks(length: Int, expected: Set<AchievementID>) {
        #expect(earned(facts { $0.isWon = true }, streak: length).subtracting(Self.plainWin) == expected)
    }

    @Test func breaksAStreakAtALoss() {
        var career = Career()
        let win = facts { $0.isWon = true }
        for _ in 0..<4 { career.add(win) }
        #expect(career.streak == 4)
        career.add(facts { _ in })
        #expect(career.streak == 0)
        career.add(win)
        #expect(career.streak == 1)
        #expect(career.games == 6)
        #expect(career.wins == 5)
    }

    @Test func rewardsHowAGameWasWon() {
        func more(_ level: Level = .beginner, _ change: (inout MinesweeperGame.Facts) -> Void) -> Set<AchievementID> {
            let won = facts(level) {
                $0.isWon = true
                change(&$0)
            }
            return earned(won).subtracting([.firstSteps, .firstWin, .beginnerWin, .intermediateWin, .advancedWin])
        }
        #expect(more { $0.usedFlags = false } == [.bareHands])
        #expect(more { $0.guesses = 2 } == [])
        #expect(more { $0.guesses = 3 } == [.luckyThree])
        #expect(more { $0.greatestRisk = 0.4999 } == [])
        #expect(more { $0.greatestRisk = 0.5.nextDown } == [.againstTheOdds])
        #expect(more { $0.firstOpening = 1 } == [.coldStart])
        #expect(more { $0.wonByChord = true } == [.chordWin])
        #expect(more { $0.isFlaggedRight = true } == [.bombDisposal])
        #expect(more(.intermediate) { $0.guesses = 0 } == [.pureReason])
        #expect(more(.advanced) { $0.guesses = 0 } == [.pureReason])
        #expect(more(.advanced) { $0.guesses = 1 } == [])
    }

    @Test func rewardsOpeningsAndNumbersInLostGamesToo() {
        func lost(_ change: (inout MinesweeperGame.Facts) -> Void) -> Set<AchievementID> {
            earned(
                facts {
                    $0.remainingSafe = 9
                    change(&$0)
                }
            ).subtracting([.firstSteps])
        }
        #expect(lost { $0.largestOpening = 35 } == [])
        // Half of the 71 cells without a mine.
        #expect(lost { $0.largestOpening = 36 } == [.halfTheField])
        #expect(lost { $0.largestOpening = 40 } == [.halfTheField, .wideOpen])
        #expect(lost { $0.greatestNumber = 5 } == [])
        #expect(lost { $0.greatestNumber = 6 } == [.theSix])
        #expect(lost { $0.greatestNumber = 7 } == [.theSix, .theSeven])
        #expect(lost { $0.greatestNumber = 8 } == [.theSix, .theSeven, .theEight])
        #expect(lost { $0.remainingSafe = 1 } == [.soClose])
        #expect(lost { $0.clicks = 2 } == [.secondThoughts])
        #expect(lost { $0.clicks = 1 } == [])
    }

    @Test func asksOfTheImpossibleMissionThatTheEightWins() {
        let eight = ["....", "***.", "*.*.", "***."]
        var last = MinesweeperGame(.beginner, board: Drawing.board(eight))
        last.play(.uncover(3, risk: 0), atNanoseconds: 0)
        for cell in [0, 1, 2, 7, 11, 15] { last.play(.uncover(cell, risk: 0), atNanoseconds: 1) }
        #expect(!last.isOver)
        last.play(.uncover(9, risk: 0.5), atNanoseconds: 2)
        #expect(last.facts.isWon)
        #expect(last.facts.winningNumber == 8)
        #expect(earned(last.facts).isSuperset(of: [.impossibleMission, .theEight]))

        var early = MinesweeperGame(.beginner, board: Drawing.board(eight))
        early.play(.uncover(9, risk: 0), atNanoseconds: 0)
        for cell in [0, 1, 2, 3, 7, 11, 15] { early.play(.uncover(cell, risk: 0), atNanoseconds: 1) }
        #expect(early.facts.isWon)
        #expect(earned(early.facts).contains(.theEight))
        #expect(!earned(early.facts).contains(.impossibleMission))
    }

    @Test func countsWinsAndGames() {
        #expect(AchievementRules.progress(of: Career()) == [:])
        #expect(AchievementRules.progress(of: Career(games: 1, wins: 1)) == [.tenWins: 1])
        #expect(AchievementRules.progress(of: Career(games: 10, wins: 0)) == [.hundredGames: 10])
        #expect(
            AchievementRules.progress(of: Career(games: 100, wins: 10))
                == [.tenWins: 10, .hundredWins: 10, .hundredGames: 100, .thousandGames: 100])
        #expect(AchievementRules.progress(of: Career(games: 101, wins: 11)) == [:])
        #expect(
            AchievementRules.progress(of: Career(games: 1_000, wins: 1_000))
                == [.thousandWins: 1_000, .thousandGames: 1_000])
    }
}
