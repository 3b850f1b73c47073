/// Draws a field with characters.
package enum BoardPicture {
    /// One line a row, framed; colour only where `hasColor`.
    package static func draw(_ board: Board, hasColor: Bool = false) -> String {
        let rule = String(repeating: "─", count: board.width * 2 + 1)
        var lines = ["┌\(rule)┐"]
        for row in 0..<board.height {
            let cells = (0..<board.width).map { cell(board, row * board.width + $0, hasColor: hasColor) }
            lines.append("│ \(cells.joined(separator: " ")) │")
        }
        lines.append("└\(rule)┘")
        return lines.joined(separator: "\n")
    }

    private static func cell(_ board: Board, _ index: Int, hasColor: Bool) -> String {
        if board.exploded == index { return paint("✶", "31;1", hasColor) }
        switch board.covers[index] {
        case .flagged: return paint(board.isOver && !board.revealsMine(at: index) ? "×" : "⚑", "31", hasColor)
        case .covered: return board.revealsMine(at: index) ? paint("●", "90", hasColor) : "■"
        case .uncovered:
            guard let number = board.number(at: index), number > 0 else { return "·" }
            let colors = ["34", "32", "31", "35", "33", "36", "37", "90"]
            return paint(String(number), colors[number - 1], hasColor)
        }
    }

    private static func paint(_ text: String, _ code: String, _ hasColor: Bool) -> String {
        hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
