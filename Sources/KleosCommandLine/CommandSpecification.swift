/// An option of a command; parsing, help, man pages and completions come from it.
package struct OptionSpecification: Sendable {
    /// The long name without dashes: `player`.
    package let name: String
    /// What the value is called in the help: `NAME`; nil for an option without a value.
    package let valueName: String?
    /// What it does, as a sentence.
    package let summary: String
    /// Whether it may be given more than once; values of a choice may then be separated by commas, too.
    package let repeats: Bool
    /// The only values allowed; empty for any.
    package let choices: [String]

    /// Makes an option.
    package init(
        _ name: String, _ valueName: String? = nil, _ summary: String, repeats: Bool = false, choices: [String] = []
    ) {
        self.name = name
        self.valueName = valueName
        self.summary = summary
        self.repeats = repeats
        self.choices = choices
    }

    /// The option as written in a usage line: `--player NAME`.
    package var spelling: String {
        valueName.map { "--\(name) \($0)" } ?? "--\(name)"
    }
}

/// A positional argument of a command.
package struct ArgumentSpecification: Sendable {
    /// What it is called in the help: `KEY`.
    package let name: String
    /// What it is, as a sentence.
    package let summary: String
    package let isOptional: Bool
    /// Whether it takes all that follow.
    package let repeats: Bool
    /// The only values that there are, for completions; empty for any.
    package let choices: [String]

    /// Makes an argument.
    package init(
        _ name: String, _ summary: String, isOptional: Bool = false, repeats: Bool = false, choices: [String] = []
    ) {
        self.choices = choices
        self.name = name
        self.summary = summary
        self.isOptional = isOptional
        self.repeats = repeats
    }

    /// The argument as written in a usage line: `[KEY …]`.
    package var spelling: String {
        let text = repeats ? "\(name) …" : name
        return isOptional ? "[\(text)]" : text
    }
}

/// An example of the help: a command line and what it does.
package struct CommandExample: Sendable {
    package let line: String
    package let summary: String

    /// Makes an example.
    package init(_ line: String, _ summary: String) {
        self.line = line
        self.summary = summary
    }
}

/// A command: its words, its options and arguments, and what runs it.
package struct CommandSpecification: Sendable {
    /// What is typed after `kleos`: `["config", "check"]`.
    package let words: [String]
    /// What it does, in a few words that begin with a verb.
    package let summary: String
    /// Paragraphs of the help, without line breaks.
    package let details: [String]
    package let arguments: [ArgumentSpecification]
    package let options: [OptionSpecification]
    package let examples: [CommandExample]
    /// Runs it; throws what ends the program with a message and an exit code, else returns the exit code.
    package let run: @Sendable (Invocation, Session) throws(CommandFailure) -> ExitCode

    /// Makes a command.
    package init(
        _ words: [String], _ summary: String, details: [String] = [], arguments: [ArgumentSpecification] = [],
        options: [OptionSpecification] = [], examples: [CommandExample] = [],
        run: @escaping @Sendable (Invocation, Session) throws(CommandFailure) -> ExitCode
    ) {
        self.words = words
        self.summary = summary
        self.details = details
        self.arguments = arguments
        self.options = options
        self.examples = examples
        self.run = run
    }

    /// The words as typed: `config check`.
    package var name: String { words.joined(separator: " ") }
}
