import KleosSupport

/// Plays one game to its end with the solver.
struct AutoPlayer {
    /// How the player handles mines that it knows of.
    enum Style: CaseIterable {
        /// Only uncovers.
        case plain
        /// Flags every mine that it is sure of, and uncovers around numbers that have all their flags.
        case flagging
    }

    let style: Style

    /// Plays until the game is over; `now` reads a monotonic clock in nanoseconds.
    func play(_ game: MinesweeperGame, now: () -> Int64) -> MinesweeperGame {
        var game = game
        let level = game.level
        game.play(.uncover(level.width * (level.height / 2) + level.width / 2, risk: 0), atNanoseconds: now())
        while let board = game.board, !board.isOver {
            if style == .flagging { flag(board, &game, now: now) }
            switch Solver.advice(for: board) {
            case .safe(let cells): open(cells, &game, now: now)
            case .guess(let cell, let risk): uncover(cell, risk: risk, &game, now: now)
            }
        }
        return game
    }

    private func flag(_ board: Board, _ game: inout MinesweeperGame, now: () -> Int64) {
        for cell in Solver.certainMines(in: board) where board.covers[cell] == .covered {
            game.play(.flag(cell), atNanoseconds: now())
        }
    }

    private func open(_ cells: [Int], _ game: inout MinesweeperGame, now: () -> Int64) {
        for cell in cells where !game.isOver {
            guard let board = game.board, board.covers[cell] != .uncovered else { continue }
            if style == .flagging, let number = chordable(around: cell, in: board) {
                game.play(.chord(number), atNanoseconds: now())
            } else {
                uncover(cell, risk: 0, &game, now: now)
            }
        }
    }

    /// A number beside the cell with all its flags, and no flag that is not certain: flags are set only on those.
    private func chordable(around cell: Int, in board: Board) -> Int? {
        board.neighbors(of: cell).first { near in
            guard let number = board.number(at: near), number > 0 else { return false }
            return board.neighbors(of: near).filter { board.covers[$0] == .flagged }.count == number
        }
    }

    private func uncover(_ cell: Int, risk: Double, _ game: inout MinesweeperGame, now: () -> Int64) {
        if game.board?.covers[cell] == .flagged { game.play(.flag(cell), atNanoseconds: now()) }
        game.play(.uncover(cell, risk: risk), atNanoseconds: now())
    }
}
