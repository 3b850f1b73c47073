import KleosMinesweeper
import KleosSupport
import Testing

@Suite struct GameTests {
    private static let second: Int64 = 1_000_000_000

    private func play(_ rows: [String], _ moves: [MinesweeperGame.Move]) -> MinesweeperGame.Facts {
        var game = MinesweeperGame(.beginner, board: Drawing.board(rows))
        for (index, move) in moves.enumerated() { game.play(move, atNanoseconds: Int64(index) * Self.second) }
        return game.facts
    }

    @Test func takesTheTimeFromTheFirstClickToTheWin() {
        var game = MinesweeperGame(.beginner, board: Drawing.board("*.", ".."))
        game.play(.uncover(1, risk: 0), atNanoseconds: 5 * Self.second)
        game.play(.uncover(2, risk: 0), atNanoseconds: 6 * Self.second)
        game.play(.uncover(3, risk: 0), atNanoseconds: 6 * Self.second + 500_999_999)
        #expect(game.isOver)
        #expect(game.facts.isWon)
        #expect(game.facts.milliseconds == 1_500)
        game.play(.uncover(0, risk: 0), atNanoseconds: 100 * Self.second)
        #expect(game.facts.milliseconds == 1_500)
        #expect(game.facts.clicks == 3)
    }

    @Test func takesAtLeastAMillisecond() {
        var game = MinesweeperGame(.beginner, board: Drawing.board("*...", "...."))
        game.play(.uncover(3, risk: 0), atNanoseconds: 7)
        game.play(.uncover(4, risk: 0), atNanoseconds: 8)
        #expect(game.facts.isWon)
        #expect(game.facts.milliseconds == 1)
    }

    @Test func laysItsMinesAtTheFirstClick() {
        for seed in 0..<50 as Range<UInt64> {
            var game = MinesweeperGame(.advanced, random: SeededGenerator(seed: seed))
            #expect(game.board == nil)
            game.play(.uncover(Int(seed), risk: 0), atNanoseconds: 0)
            #expect(game.board?.mineCount == 99)
            #expect(game.board?.exploded == nil)
        }
    }

    @Test func countsGuessesButNotTheFirstClick() {
        let facts = play(
            ["*..", "...", "..*"],
            [.uncover(1, risk: 0.9), .uncover(2, risk: 0.25), .uncover(2, risk: 0.9), .uncover(3, risk: 0.125)])
        #expect(facts.guesses == 2)
        #expect(facts.greatestRisk == 0.25)
        #expect(facts.clicks == 3)
    }

    @Test func notesFlagsThatWereSet() {
        var early = MinesweeperGame(.beginner, random: SeededGenerator(seed: 1))
        early.play(.flag(0), atNanoseconds: 0)
        #expect(!early.facts.usedFlags)
        #expect(!play(["*.", ".."], [.uncover(3, risk: 0), .flag(3)]).usedFlags)
        #expect(play(["*.", ".."], [.uncover(3, risk: 0), .flag(0), .flag(0)]).usedFlags)
    }

    @Test func notesHowMuchAMoveOpened() {
        let facts = play([".*...", ".*...", ".*..."], [.uncover(0, risk: 0), .uncover(4, risk: 0)])
        #expect(facts.firstOpening == 1)
        #expect(facts.largestOpening == 9)
        #expect(facts.greatestNumber == 3)
    }

    @Test func notesAnEndByChord() {
        let facts = play(["*.", ".."], [.uncover(3, risk: 0), .flag(0), .chord(3)])
        #expect(facts.isWon)
        #expect(facts.wonByChord)
        #expect(facts.isFlaggedRight)
        #expect(facts.clicks == 2)
        #expect(!play(["*.", ".."], [1, 2, 3].map { .uncover($0, risk: 0) }).wonByChord)
    }

    @Test func notesWhatWasLeftOfALostGame() {
        let facts = play(["*..", "..."], [.uncover(1, risk: 0), .uncover(3, risk: 0), .uncover(0, risk: 0.5)])
        #expect(!facts.isWon)
        #expect(facts.remainingSafe == 3)
        #expect(facts.winningNumber == nil)
        // An exploded mine is no number, however many are around it.
        #expect(play(["**", ".*"], [.uncover(2, risk: 0)]).greatestNumber == 3)
        #expect(play(["***", "***", ".**"], [.uncover(6, risk: 0), .uncover(4, risk: 1)]).greatestNumber == 3)
    }
}
