import KleosMinesweeper
import KleosSupport
import Testing

@Suite struct BoardTests {
    @Test(arguments: [
        (Level.beginner, 9, 9, 10), (.intermediate, 16, 16, 40), (.advanced, 30, 16, 99),
    ])
    func hasTheSizesOfItsLevels(level: Level, width: Int, height: Int, mines: Int) {
        var random = SeededGenerator(seed: 1)
        let board = Board(level, safe: 0, random: &random)
        #expect(board.width == width)
        #expect(board.height == height)
        #expect(board.mineCount == mines)
        #expect(board.remainingSafe == width * height - mines)
    }

    @Test(arguments: Level.allCases)
    func neverHasAMineAtTheFirstClick(level: Level) {
        for seed in 0..<100 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let first = Int(seed) * 7 % (level.width * level.height)
            var board = Board(level, safe: first, random: &random)
            #expect(board.mineCount == level.mines)
            #expect(!board.uncover(first).isEmpty)
            #expect(board.exploded == nil)
        }
    }

    @Test func laysTheSameMinesForTheSameSeed() {
        func board(_ seed: UInt64) -> Board {
            var random = SeededGenerator(seed: seed)
            return Board(.intermediate, safe: 5, random: &random)
        }
        #expect(board(1) == board(1))
        #expect(board(1) != board(2))
    }

    @Test func numbersTheMinesAround() {
        var board = Drawing.board("***", "*.*", "***")
        #expect(board.uncover(4) == [4])
        #expect(board.number(at: 4) == 8)
        #expect(board.isWon)
        #expect(board.number(at: 0) == nil)
    }

    @Test func opensAllAroundZerosUpToTheNumbers() {
        var board = Drawing.board(".....", ".....", "..*..", "....*")
        let opened = board.uncover(0)
        #expect(Drawing.seen(board) == ["00000", "01110", "01#21", "01###"])
        #expect(Set(opened).count == opened.count)
        #expect(opened.count == 16)
        #expect(board.remainingSafe == 2)
        #expect(board.uncover(0).isEmpty)
    }

    @Test func opensALargeEmptyFieldAtOnce() {
        var board = Board(width: 400, height: 400, mines: [0])
        #expect(board.uncover(160_000 - 1).count == 160_000 - 1)
        #expect(board.isWon)
    }

    @Test func leavesFlaggedCellsAlone() {
        var board = Drawing.board("....", "....", "...*")
        board.toggleFlag(at: 0)
        #expect(board.uncover(0).isEmpty)
        _ = board.uncover(3)
        #expect(Drawing.seen(board) == ["F000", "0011", "001#"])
        #expect(!board.isWon)
        board.toggleFlag(at: 0)
        #expect(board.uncover(0) == [0])
        #expect(board.isWon)
    }

    @Test func isLostAtAMine() {
        var board = Drawing.board("*.", "..")
        #expect(board.uncover(0) == [0])
        #expect(board.isOver)
        #expect(!board.isWon)
        #expect(board.exploded == 0)
        #expect(board.remainingSafe == 3)
        #expect(board.uncover(1).isEmpty)
        board.toggleFlag(at: 1)
        #expect(board.covers[1] == .covered)
    }

    @Test func showsMinesOnlyAtTheEnd() {
        var board = Drawing.board("*.", "*.")
        _ = board.uncover(1)
        #expect(!board.revealsMine(at: 0))
        _ = board.uncover(3)
        #expect(board.isWon)
        #expect(board.revealsMine(at: 0))
        #expect(!board.revealsMine(at: 1))
    }

    @Test func chordsOnlyWithAsManyFlagsAsTheNumber() {
        var board = Drawing.board("*..", "...", "..*")
        _ = board.uncover(4)
        #expect(board.chord(4).isEmpty)
        board.toggleFlag(at: 0)
        #expect(board.chord(4).isEmpty)
        board.toggleFlag(at: 8)
        #expect(Set(board.chord(4)) == [1, 2, 3, 5, 6, 7])
        #expect(board.isWon)
        #expect(board.isFlaggedRight)
    }

    @Test func losesByAChordWithAWrongFlag() {
        var board = Drawing.board("*.", "..")
        _ = board.uncover(3)
        board.toggleFlag(at: 1)
        _ = board.chord(3)
        #expect(board.exploded == 0)
        #expect(!board.isFlaggedRight)
    }

    @Test func takesNoFlagOnAnOpenCell() {
        var board = Drawing.board("*.", "..")
        _ = board.uncover(3)
        board.toggleFlag(at: 3)
        #expect(board.covers[3] == .uncovered)
    }

    @Test func drawsAFinishedField() {
        var board = Drawing.board("*..", "...", "*..")
        board.toggleFlag(at: 0)
        board.toggleFlag(at: 4)
        _ = board.uncover(1)
        #expect(
            BoardPicture.draw(board) == """
                ┌───────┐
                │ ⚑ 1 ■ │
                │ ■ ⚑ ■ │
                │ ■ ■ ■ │
                └───────┘
                """)
        _ = board.uncover(6)
        #expect(
            BoardPicture.draw(board) == """
                ┌───────┐
                │ ⚑ 1 ■ │
                │ ■ × ■ │
                │ ✶ ■ ■ │
                └───────┘
                """)
        #expect(BoardPicture.draw(board, hasColor: true).contains("\u{1B}[34m1\u{1B}[0m"))
    }
}
