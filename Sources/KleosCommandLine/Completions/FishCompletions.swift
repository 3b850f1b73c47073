/// Completions for fish.
enum FishCompletions {
    static var lines: [String] {
        var lines = ["# Completions of kleos for fish; written by: kleos completions fish", "complete -c kleos -f"]
        for first in Completions.firstWords {
            lines.append(
                "complete -c kleos -n __fish_use_subcommand -a \(first) -d \(Completions.quoted(Completions.summary(of: first)))"
            )
        }
        for option in CommonOptions.global { lines.append(line(option, condition: nil)) }
        for command in CommandTable.commands { lines += section(of: command) }
        return lines
    }

    private static func section(of command: CommandSpecification) -> [String] {
        var lines: [String] = []
        let first = command.words[0]
        if let second = command.words.dropFirst().first {
            let others = Completions.secondWords(after: first).joined(separator: " ")
            let condition = "__fish_seen_subcommand_from \(first); and not __fish_seen_subcommand_from \(others)"
            lines.append(
                "complete -c kleos -n \(Completions.quoted(condition)) -a \(Completions.quoted(second)) -d "
                    + Completions.quoted(command.summary))
        }
        let condition = command.words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
        for option in command.options { lines.append(line(option, condition: condition)) }
        for argument in command.arguments where Completions.isPath(argument.name) || !argument.choices.isEmpty {
            let values =
                argument.choices.isEmpty ? " -F" : " -a \(Completions.quoted(argument.choices.joined(separator: " ")))"
            lines.append("complete -c kleos -n \(Completions.quoted(condition))\(values)")
        }
        return lines
    }

    private static func line(_ option: OptionSpecification, condition: String?) -> String {
        var line = "complete -c kleos"
        if let condition { line += " -n \(Completions.quoted(condition))" }
        line += " -l \(option.name)"
        if let valueName = option.valueName {
            line += Completions.isPath(valueName) ? " -r -F" : " -x"
            if !option.choices.isEmpty { line += " -a \(Completions.quoted(option.choices.joined(separator: " ")))" }
        }
        return "\(line) -d \(Completions.quoted(option.summary))"
    }
}
