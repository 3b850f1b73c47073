/// The help of the command line, made from the command table. Pure.
package enum HelpText {
    /// The list of all commands.
    package static func overview(_ commands: [CommandSpecification], globalOptions: [OptionSpecification]) -> String {
        var text = """
            kleos hands a game's scores and achievements to leaderboard services, and shows what became of them.

            Usage: kleos COMMAND [OPTIONS] [ARGUMENTS]

            Commands:

            """
        text += columns(commands.map { ($0.name, $0.summary) })
        text += "\nOptions of every command:\n" + columns(globalOptions.map { ($0.spelling, $0.summary) })
        text += "\nkleos COMMAND --help says more about a command.\n"
        return text
    }

    /// The help of one command.
    package static func command(_ command: CommandSpecification, globalOptions: [OptionSpecification]) -> String {
        var text = "Usage: kleos \(usage(command))\n\n"
        text += wrapped(command.summary + ".", indent: 0)
        for paragraph in command.details { text += "\n" + wrapped(paragraph, indent: 0) }
        if !command.arguments.isEmpty {
            text += "\nArguments:\n" + columns(command.arguments.map { ($0.name, $0.summary) })
        }
        if !command.options.isEmpty {
            text += "\nOptions:\n" + columns(command.options.map(row))
        }
        text += "\nOptions of every command:\n" + columns(globalOptions.map(row))
        if !command.examples.isEmpty {
            text += "\nExamples:\n"
            for example in command.examples { text += "  \(example.line)\n" + wrapped(example.summary, indent: 6) }
        }
        return text
    }

    /// The help of several commands that begin with the same word.
    package static func family(_ commands: [CommandSpecification]) -> String {
        var text = "Usage:\n"
        for command in commands { text += "  kleos \(usage(command))\n" }
        text += "\n" + columns(commands.map { ($0.name, $0.summary) })
        return text + "\nkleos COMMAND --help says more about each.\n"
    }

    /// The command with its arguments, without the program's name.
    static func usage(_ command: CommandSpecification) -> String {
        let options = command.options.isEmpty ? [] : ["[OPTIONS]"]
        return (command.words + options + command.arguments.map(\.spelling)).joined(separator: " ")
    }

    private static func row(_ option: OptionSpecification) -> (String, String) {
        let choices = option.choices.isEmpty ? "" : " One of \(option.choices.joined(separator: ", "))."
        return (option.spelling, option.summary + choices)
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let width = min(30, rows.map { $0.0.count }.max() ?? 0)
        var text = ""
        for (left, right) in rows {
            let lines = lines(right, width: 78 - width - 4)
            let isLong = left.count > width
            if isLong { text += "  \(left)\n" }
            for (index, line) in lines.enumerated() {
                let label = index == 0 && !isLong ? left : ""
                text += "  " + label + String(repeating: " ", count: width - label.count + 2) + line + "\n"
            }
        }
        return text
    }

    private static func wrapped(_ text: String, indent: Int) -> String {
        lines(text, width: 78 - indent).map { String(repeating: " ", count: indent) + $0 + "\n" }.joined()
    }

    private static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
