/// Completions for zsh.
enum ZshCompletions {
    static var lines: [String] {
        var lines = [
            "#compdef kleos", "# Completions of kleos for zsh; written by: kleos completions zsh", "_kleos() {",
            "    local curcontext=$curcontext state line",
            "    typeset -A opt_args", "    local -a global", "    global=(",
        ]
        lines += CommonOptions.global.map { "        \(specification($0))" }
        lines += [
            "    )", "    _arguments -C $global '1: :->first' '*:: :->rest' && return", "    case $state in",
            "    first)",
            "        local -a commands", "        commands=(",
        ]
        lines += Completions.firstWords.map { "            \(described($0, Completions.summary(of: $0)))" }
        lines += [
            "        )", "        _describe -t commands command commands ;;", "    rest)", "        case $words[1] in",
        ]
        for first in Completions.firstWords { lines += branch(first) }
        return lines + ["        esac ;;", "    esac", "}", "_kleos \"$@\""]
    }

    private static func branch(_ first: String) -> [String] {
        let family = CommandTable.commands.filter { $0.words[0] == first }
        var lines = ["        \(first))"]
        if family.count == 1, family[0].words.count == 1 {
            lines += arguments(family[0], indent: 12)
        } else {
            lines += [
                "            if (( CURRENT == 2 )); then", "                local -a seconds",
                "                seconds=(",
            ]
            lines += family.map { "                    \(described($0.words.dropFirst().first ?? "", $0.summary))" }
            lines += ["                )", "                _describe -t commands command seconds", "            else"]
            lines += ["                shift words; (( CURRENT-- ))", "                case $words[1] in"]
            for command in family {
                lines += ["                \(command.words.dropFirst().first ?? ""))"] + arguments(command, indent: 20)
                lines.append("                    ;;")
            }
            lines += ["                esac", "            fi"]
        }
        return lines + ["            ;;"]
    }

    private static func arguments(_ command: CommandSpecification, indent: Int) -> [String] {
        let space = String(repeating: " ", count: indent)
        var parts = command.options.map(specification)
        for (index, argument) in command.arguments.enumerated() {
            let place = argument.repeats ? "*" : String(index + 1)
            let optional = argument.isOptional && !argument.repeats ? ":" : ""
            let action = action(argument.name, argument.choices)
            parts.append(Completions.quoted("\(place):\(optional)\(argument.name):\(action)"))
        }
        return ["\(space)_arguments $global \\"] + parts.map { "\(space)    \($0) \\" } + ["\(space)    && return"]
    }

    private static func described(_ word: String, _ text: String) -> String {
        Completions.quoted("\(word.replacing(":", with: "\\:")):\(text)")
    }

    private static func specification(_ option: OptionSpecification) -> String {
        let text = option.summary.replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: "\\:")
        let repeats = option.repeats ? "*" : ""
        guard let valueName = option.valueName else { return Completions.quoted("--\(option.name)[\(text)]") }
        let values = action(valueName, option.choices)
        return Completions.quoted("\(repeats)--\(option.name)=[\(text)]:\(valueName):\(values)")
    }

    private static func action(_ name: String, _ choices: [String]) -> String {
        if !choices.isEmpty { return "(\(choices.joined(separator: " ")))" }
        return Completions.isPath(name) ? "_files" : " "
    }
}
