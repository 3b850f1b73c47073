/// How things look: signs and colours, or what stands for them where a terminal lacks them. Pure.
package struct Theme: Sendable {
    /// What a text is.
    package enum Style: Sendable, Equatable {
        case plain
        case strong
        case quiet
        case good
        case bad
        case accent
        /// Something new.
        case popup
        case covered
        case flag
        case mine
        /// A number, 1 … 8.
        case number(Int)
    }

    /// Whether there are colours; without, there is still bold and reverse.
    package let hasColor: Bool
    /// Whether there are more signs than ASCII has.
    package let hasUnicode: Bool

    /// Makes a theme.
    package init(hasColor: Bool, hasUnicode: Bool) {
        self.hasColor = hasColor
        self.hasUnicode = hasUnicode
    }

    /// Reads the variables of an environment: NO_COLOR, LC_ALL, LC_CTYPE, LANG.
    package init(environment: (String) -> String?) {
        let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        let name = locale.uppercased()
        hasUnicode = name.hasSuffix("UTF-8") || name.hasSuffix("UTF8")
        hasColor = environment("NO_COLOR") == nil
    }

    /// `text` with the codes of a style around it; `isUnderCursor` reverses it.
    func paint(_ text: String, _ style: Style, isUnderCursor: Bool = false) -> String {
        var codes = self.codes(style)
        if isUnderCursor { codes.append("7") }
        return codes.isEmpty ? text : "\u{1B}[\(codes.joined(separator: ";"))m\(text)\u{1B}[0m"
    }

    private func codes(_ style: Style) -> [String] {
        switch style {
        case .plain, .covered: []
        case .strong: ["1"]
        case .quiet: ["2"]
        case .good: hasColor ? ["1", "32"] : ["1"]
        case .bad: hasColor ? ["1", "31"] : ["1"]
        case .accent: hasColor ? ["1", "36"] : ["1"]
        case .popup: hasColor ? ["1", "30", "43"] : ["1", "7"]
        case .flag: hasColor ? ["1", "31"] : ["1"]
        case .mine: hasColor ? ["35"] : []
        case .number(let number): hasColor ? Self.colors[max(0, min(7, number - 1))] : []
        }
    }

    /// The colours that the numbers have had in this game for thirty years, as far as a terminal has them.
    private static let colors = [["94"], ["32"], ["91"], ["34"], ["31"], ["36"], ["1"], ["90"]]

    /// The signs of the field and its frame.
    var signs: Signs { hasUnicode ? .unicode : .ascii }

    /// The signs of the field and its frame.
    struct Signs: Sendable {
        let covered, empty, flag, wrongFlag, mine, exploded, star, done: String
        let horizontal, vertical, corners: String
        let arrows, ellipsis, dash: String

        static let unicode = Signs(
            covered: "■", empty: "·", flag: "⚑", wrongFlag: "×", mine: "●", exploded: "✶", star: "★", done: "✓",
            horizontal: "─", vertical: "│", corners: "┌┐└┘", arrows: "←↓↑→", ellipsis: "…", dash: "–")
        static let ascii = Signs(
            covered: "#", empty: ".", flag: "F", wrongFlag: "x", mine: "o", exploded: "*", star: "*", done: "+",
            horizontal: "-", vertical: "|", corners: "++++", arrows: "arrows", ellipsis: "...", dash: "-")
    }
}
