/// A table for people: columns set in line, or Markdown.
struct TextTable {
    private let headings: [String]
    private var rows: [[String]] = []

    init(_ headings: [String]) {
        self.headings = headings
    }

    /// Adds a row with a cell for each heading.
    mutating func add(_ cells: [String]) {
        precondition(cells.count == headings.count, "a row has a cell for each heading")
        rows.append(cells)
    }

    /// Columns in line: the first to the left, the others to the right.
    var text: String {
        let all = [headings] + rows
        let widths = headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        let lines = all.map { cells in
            zip(cells, widths).enumerated().map { column, pair in
                let room = String(repeating: " ", count: pair.1 - pair.0.count)
                return column == 0 ? pair.0 + room : room + pair.0
            }.joined(separator: "  ") + "\n"
        }
        return lines.joined()
    }

    /// The same as Markdown.
    var markdown: String {
        let rule = "|" + String(repeating: "---|", count: headings.count)
        let lines = rows.map { "| " + $0.joined(separator: " | ") + " |" }
        return (["| " + headings.joined(separator: " | ") + " |", rule] + lines).map { $0 + "\n" }.joined()
    }
}
