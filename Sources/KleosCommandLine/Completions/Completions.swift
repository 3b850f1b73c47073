/// What shells complete, made from the command table. Pure.
package enum Completions: String, Sendable, CaseIterable {
    case bash
    case zsh
    case fish

    /// The script for the shell.
    package var script: String {
        let lines: [String] =
            switch self {
            case .bash: BashCompletions.lines
            case .zsh: ZshCompletions.lines
            case .fish: FishCompletions.lines
            }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `text` as one word of a shell.
    static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }

    /// The first words of commands, each once, in their order.
    static var firstWords: [String] {
        var words: [String] = []
        for command in CommandTable.commands where !words.contains(command.words[0]) { words.append(command.words[0]) }
        return words
    }

    /// The second words after `first`.
    static func secondWords(after first: String) -> [String] {
        CommandTable.commands.filter { $0.words.first == first && $0.words.count > 1 }.map { $0.words[1] }
    }

    /// What people read about a first word.
    static func summary(of first: String) -> String {
        let family = CommandTable.commands.filter { $0.words[0] == first }
        return family.count == 1 ? family[0].summary : family.map(\.summary).joined(separator: "; ")
    }

    /// Whether a value or an argument is a path.
    static func isPath(_ name: String) -> Bool { ["PATH", "FILE", "DIR"].contains(name) }
}
