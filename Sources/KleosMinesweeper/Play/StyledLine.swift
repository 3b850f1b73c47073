/// One line of the screen: text with styles, and how wide it is. Pure.
struct StyledLine: Sendable {
    let theme: Theme
    /// Columns that there are; what is beyond is left out.
    let columns: Int
    private(set) var text = ""
    /// Columns taken. Every sign that the game uses is one column wide.
    private(set) var width = 0

    init(_ theme: Theme, columns: Int) {
        self.theme = theme
        self.columns = columns
    }

    mutating func add(_ more: String, _ style: Theme.Style = .plain, isUnderCursor: Bool = false) {
        let fitting = more.prefix(max(0, columns - width))
        guard !fitting.isEmpty else { return }
        text += theme.paint(String(fitting), style, isUnderCursor: isUnderCursor)
        width += fitting.count
    }

    /// Adds spaces up to a column; nothing where it is there already.
    mutating func pad(to column: Int) {
        if width < column { add(String(repeating: " ", count: column - width)) }
    }

    /// Adds as much of `more` as fits before `column`, with a mark where something is left out.
    mutating func add(_ more: String, _ style: Theme.Style = .plain, upTo column: Int) {
        let room = column - width
        guard room > 0 else { return }
        let mark = theme.signs.ellipsis
        let clean = String(more.map { $0.isNewline || $0.unicodeScalars.contains { $0.value < 0x20 } ? " " : $0 })
        add(clean.count <= room ? clean : String(clean.prefix(max(0, room - mark.count))) + mark, style)
    }
}
