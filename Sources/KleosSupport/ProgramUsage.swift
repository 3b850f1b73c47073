/// How a program is called, for its `--help` and its page of the manual. Pure.
package struct ProgramUsage: Sendable {
    /// A label with what it means: an option as it is typed, or a whole command line.
    package struct Row: Sendable {
        package let label: String
        /// No point at the end.
        package let text: String

        /// Makes a row.
        package init(_ label: String, _ text: String) {
            self.label = label
            self.text = text
        }
    }

    /// Options that belong together.
    package struct Group: Sendable {
        /// No point or colon at the end.
        package let heading: String
        package let rows: [Row]

        /// Makes a group.
        package init(_ heading: String, _ rows: [Row]) {
            self.heading = heading
            self.rows = rows
        }
    }

    /// One way in which the program ends.
    package struct Code: Sendable {
        package let number: Int
        /// No point at the end.
        package let text: String

        /// Makes a code.
        package init(_ number: Int, _ text: String) {
            self.number = number
            self.text = text
        }
    }

    package let name: String
    /// What it is, in a few words.
    package let summary: String
    /// The command lines; a text may be empty.
    package let forms: [Row]
    /// Sentences that come before the options.
    package let introduction: String
    package let groups: [Group]
    /// Sentences that come behind them, under what a page of the manual has for their heading.
    package let notes: [Row]
    package let exitCodes: [Code]

    /// Makes a usage from its parts.
    package init(
        name: String, summary: String, forms: [Row], introduction: String, groups: [Group], notes: [Row],
        exitCodes: [Code]
    ) {
        self.name = name
        self.summary = summary
        self.forms = forms
        self.introduction = introduction
        self.groups = groups
        self.notes = notes
        self.exitCodes = exitCodes
    }

    private static let width = 88

    /// What `--help` prints.
    package var help: String {
        let codes = exitCodes.map { "\($0.number) \($0.text)" }.joined(separator: "; ")
        var lines = ["\(name) - \(summary)", ""] + usage + [""]
        lines += Self.wrapped(introduction, width: Self.width)
        for group in groups { lines += ["", "\(group.heading):"] + Self.columns(group.rows, indent: 2) }
        for note in notes { lines += [""] + Self.wrapped(note.text, width: Self.width) }
        lines += [""] + Self.wrapped("Exit codes: \(codes).", width: Self.width)
        return lines.joined(separator: "\n") + "\n"
    }

    private var usage: [String] {
        Self.columns(forms, indent: 0).enumerated().map { index, line in
            index == 0 ? "Usage: \(line)" : "       \(line)"
        }
    }

    private static func columns(_ rows: [Row], indent: Int) -> [String] {
        let left = rows.map(\.label.count).max() ?? 0
        let space = String(repeating: " ", count: indent)
        return rows.flatMap { row -> [String] in
            let texts = wrapped(row.text, width: width - indent - left - 2)
            if texts.isEmpty { return [space + row.label] }
            return texts.enumerated().map { index, text in
                let label = index == 0 ? row.label : ""
                return "\(space)\(label)\(String(repeating: " ", count: left - label.count))  \(text)"
            }
        }
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
