import KleosMinesweeper
import KleosSupport
import Testing

@Suite struct SolverTests {
    /// Every arrangement of the board's mines among its covered cells that fits its numbers, by trying them all.
    private static func arrangements(of board: Board) -> [Set<Int>] {
        let covered = board.covers.indices.filter { board.covers[$0] != .uncovered }
        var found: [Set<Int>] = []
        for pattern in 0..<(1 << covered.count) where pattern.nonzeroBitCount == board.mineCount {
            let mines = Set(covered.indices.filter { pattern >> $0 & 1 == 1 }.map { covered[$0] })
            let fits = board.covers.indices.allSatisfy { cell in
                board.number(at: cell).map { board.neighbors(of: cell).filter(mines.contains).count == $0 } ?? true
            }
            if fits { found.append(mines) }
        }
        return found
    }

    @Test func opensWhatOneNumberProves() {
        var board = Drawing.board(".*...")
        for cell in [0, 2] { _ = board.uncover(cell) }
        #expect(Drawing.seen(board) == ["1#1##"])
        #expect(Solver.certainMines(in: board) == [1])
        #expect(Solver.advice(for: board) == .safe([3]))
    }

    @Test func trustsNumbersAndNoFlags() {
        var board = Drawing.board(".*...")
        for cell in [0, 2] { _ = board.uncover(cell) }
        board.toggleFlag(at: 3)
        #expect(Solver.advice(for: board) == .safe([3]))
    }

    @Test func opensWhatOneNumberInsideAnotherProves() {
        // The outer 1 touches two covered cells, and the 1 beside it the same two and a third.
        var board = Drawing.board("*..*", "....")
        for cell in [4, 5, 6, 7] { _ = board.uncover(cell) }
        #expect(Drawing.seen(board) == ["####", "1111"])
        #expect(Solver.advice(for: board) == .safe([1, 2]))
        for cell in [1, 2] { _ = board.uncover(cell) }
        #expect(Solver.certainMines(in: board) == [0, 3])
    }

    @Test func knowsFromTheCountOfMines() {
        var board = Drawing.board("*.*..")
        _ = board.uncover(1)
        #expect(Solver.advice(for: board) == .safe([3, 4]))
        #expect(Solver.certainMines(in: board) == [0, 2])
    }

    @Test func takesACoinTossForOne() {
        // One mine, in one of the two cells on the left.
        var board = Drawing.board("*..", "...")
        for cell in [1, 4] { _ = board.uncover(cell) }
        _ = board.uncover(2)
        #expect(Drawing.seen(board) == ["#10", "#10"])
        #expect(Solver.advice(for: board) == .guess(0, risk: 0.5))
    }

    /// On small boards every arrangement can be tried; the solver must agree with the count.
    @Test func agreesWithAllArrangementsOfSmallBoards() throws {
        var random = SeededGenerator(seed: 20)
        var guesses = 0
        for round in 0..<150 {
            let mines = Set((0..<16).shuffled(using: &random).prefix(3 + round % 3))
            var board = Board(width: 4, height: 4, mines: mines)
            let first = try #require((0..<16).first { !mines.contains($0) })
            _ = board.uncover(first)
            while !board.isOver {
                let all = Self.arrangements(of: board)
                let risks = Dictionary(
                    uniqueKeysWithValues: board.covers.indices.filter { board.covers[$0] != .uncovered }.map { cell in
                        (cell, Double(all.filter { $0.contains(cell) }.count) / Double(all.count))
                    })
                for mine in Solver.certainMines(in: board) { #expect(risks[mine] == 1) }
                switch Solver.advice(for: board) {
                case .safe(let cells):
                    #expect(!cells.isEmpty)
                    for cell in cells { #expect(risks[cell] == 0) }
                    for cell in cells { _ = board.uncover(cell) }
                case .guess(let cell, let risk):
                    guesses += 1
                    let least = try #require(risks.values.min())
                    #expect(least > 0)
                    #expect(abs(risk - least) < 1e-9)
                    #expect(abs((risks[cell] ?? 2) - least) < 1e-9)
                    _ = board.uncover(cell)
                }
            }
        }
        #expect(guesses > 20)
    }

    /// What the solver calls safe is safe, and what it calls a mine is one, on boards of the real sizes.
    @Test(arguments: Level.allCases)
    func isNeverWrongWhereItIsCertain(level: Level) {
        var wins = 0
        for seed in 0..<(level == .advanced ? 3 : 10) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let first = level.width * (level.height / 2) + level.width / 2
            var board = Board(level, safe: first, random: &random)
            _ = board.uncover(first)
            var mines: Set<Int> = []
            while !board.isOver {
                mines.formUnion(Solver.certainMines(in: board))
                switch Solver.advice(for: board) {
                case .safe(let cells):
                    for cell in cells where board.covers[cell] == .covered { _ = board.uncover(cell) }
                    #expect(board.exploded == nil)
                case .guess(let cell, let risk):
                    #expect(risk > 0 && risk <= 1)
                    #expect(!mines.contains(cell))
                    _ = board.uncover(cell)
                }
            }
            for mine in mines { #expect(board.revealsMine(at: mine)) }
            wins += board.isWon ? 1 : 0
        }
        if level == .beginner { #expect(wins >= 5) }
    }

    @Test func tellsTheRiskOfACell() {
        var board = Drawing.board("*..", "...", "...")
        _ = board.uncover(8)
        // All but the mine is open.
        #expect(Solver.risk(of: 0, in: board) == 1)
        var two = Drawing.board("*..*")
        _ = two.uncover(1)
        // One of two, and the other mine where no number reaches.
        #expect(abs(Solver.risk(of: 0, in: two) - 0.5) < 1e-9)
        #expect(abs(Solver.risk(of: 2, in: two) - 0.5) < 1e-9)
        #expect(abs(Solver.risk(of: 3, in: two) - 1) < 1e-9)
    }
}
