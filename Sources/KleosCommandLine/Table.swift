/// Rows in columns that line up. Pure.
package struct Table: Sendable {
    /// Where a column's text stands.
    package enum Alignment: Sendable {
        case left
        case right
    }

    private let headers: [(title: String, alignment: Alignment)]
    private var rows: [[Cell]] = []

    /// A text with its colour.
    package struct Cell: Sendable {
        package var text: String
        package var style: Style?

        /// Makes a cell.
        package init(_ text: String, _ style: Style? = nil) {
            // Nothing that came over a socket moves the cursor or breaks a row.
            self.text = Printable.text(text)
            self.style = style
        }
    }

    /// Makes a table with these columns; a title with a leading `>` is aligned to the right.
    package init(_ titles: [String]) {
        headers = titles.map { $0.hasPrefix(">") ? (String($0.dropFirst()), .right) : ($0, .left) }
    }

    /// Whether there are no rows.
    package var isEmpty: Bool { rows.isEmpty }

    /// Adds a row, with one cell for each column.
    package mutating func add(_ cells: [Cell]) {
        precondition(cells.count == headers.count, "a row has one cell for each column")
        rows.append(cells)
    }

    /// The table's lines, header first; two spaces between columns, none at the end of a line.
    package func lines(palette: Palette) -> [String] {
        let widths = headers.indices.map { column in
            max(Printable.width(headers[column].title), rows.map { Printable.width($0[column].text) }.max() ?? 0)
        }
        let head = headers.map { Cell($0.title, .heading) }
        return ([head] + rows).map { line($0, widths: widths, palette: palette) }
    }

    private func line(_ cells: [Cell], widths: [Int], palette: Palette) -> String {
        let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
        var text = ""
        for (column, cell) in cells.enumerated() where column <= last {
            if column > 0 { text += "  " }
            let padding = String(repeating: " ", count: widths[column] - Printable.width(cell.text))
            let styled = palette.apply(cell.style, to: cell.text)
            switch headers[column].alignment {
            case .right: text += padding + styled
            case .left: text += column == last ? styled : styled + padding
            }
        }
        return text
    }
}
