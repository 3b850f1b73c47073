/// What a colour means.
package enum Style: Sendable {
    case heading
    case good
    case working
    case warning
    case bad
    case quiet
}

/// Colours of the terminal, or none.
package struct Palette: Sendable {
    private let isColored: Bool

    /// Makes a palette; without colour, texts stay as they are.
    package init(isColored: Bool) {
        self.isColored = isColored
    }

    /// `text` in the colour of `style`.
    package func apply(_ style: Style?, to text: String) -> String {
        guard isColored, let style, !text.isEmpty else { return text }
        let code =
            switch style {
            case .heading: "1"
            case .good: "32"
            case .working: "36"
            case .warning: "33"
            case .bad: "31"
            case .quiet: "2"
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
