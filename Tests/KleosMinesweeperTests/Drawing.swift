import KleosMinesweeper

/// Fields drawn as text: `*` is a mine, `.` none.
enum Drawing {
    /// The field of a drawing.
    static func board(_ rows: String...) -> Board { board(rows) }

    static func board(_ rows: [String]) -> Board {
        let cells = rows.flatMap(Array.init)
        let mines = cells.indices.filter { cells[$0] == "*" }
        return Board(width: rows[0].count, height: rows.count, mines: Set(mines))
    }

    /// What a player sees: numbers, `#` for covered, `F` for a flag, `X` for an exploded mine.
    static func seen(_ board: Board) -> [String] {
        (0..<board.height).map { row in
            String(
                (0..<board.width).map { column -> Character in
                    let index = row * board.width + column
                    if board.exploded == index { return "X" }
                    if board.covers[index] == .flagged { return "F" }
                    return board.number(at: index).map { Character(String($0)) } ?? "#"
                })
        }
    }
}
