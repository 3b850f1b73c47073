/// Completions for bash.
enum BashCompletions {
    static var lines: [String] {
        let taking = (CommonOptions.global + CommandTable.commands.flatMap(\.options)).filter { $0.valueName != nil }
        let names = Set(taking.map { "--\($0.name)" }).sorted().joined(separator: "|")
        var lines = [
            "# Completions of kleos for bash; written by: kleos completions bash", "_kleos() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
            "    local first= second= count=0 skip= word index",
            "    # The shell takes = for a word of its own.",
            "    if [[ $current == = ]]; then current=",
            "    elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi",
            "    for ((index = 1; index < COMP_CWORD; index++)); do", "        word=${COMP_WORDS[index]}",
            "        if [[ $word == = ]]; then skip=yes; continue; fi",
            "        if [[ -n $skip ]]; then skip=; continue; fi", "        case $word in",
            "            \(names)) skip=yes ;;", "            -?*) ;;", "            *)",
            "                if [[ -z $first ]]; then first=$word",
            "                else count=$((count + 1)); [[ -n $second ]] || second=$word; fi ;;", "        esac",
            "    done",
            "    COMPREPLY=()",
        ]
        lines += ["    case \"$first $second $previous\" in"] + values + ["    esac"]
        lines += ["    case $previous in"] + globalValues + ["    esac"]
        lines += words
        return lines + [
            "}", "_kleos_choices() {", "    # A list may be going on behind a comma.",
            "    local head= part=$current choice",
            "    if [[ ${2-} == list && $part == *,* ]]; then head=${part%,*},; part=${part##*,}; fi",
            "    for choice in $1; do [[ $choice == \"$part\"* ]] && COMPREPLY+=(\"$head$choice\"); done",
            "    return 0", "}",
            "_kleos_files() {", "    compopt -o filenames 2>/dev/null",
            "    local line; while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- \"$current\")",
            "}", "complete -F _kleos kleos",
        ]
    }

    /// The pattern of a command's words with what may follow them; behind one word any argument may stand.
    private static func pattern(_ command: CommandSpecification, _ rest: String = "") -> String {
        command.words.count > 1 ? "\"\(command.name)\(rest)\"" : "\"\(command.name) \"*\"\(rest)\""
    }

    private static var values: [String] {
        CommandTable.commands.flatMap { command in
            command.options.compactMap { option -> String? in
                guard let valueName = option.valueName else { return nil }
                let action = action(valueName, option.choices, isList: option.repeats)
                return "        \(pattern(command, " --\(option.name)"))) \(action); return ;;"
            }
        }
    }

    private static var globalValues: [String] {
        CommonOptions.global.compactMap { option in
            option.valueName.map { "        --\(option.name)) \(action($0, option.choices, isList: false)); return ;;" }
        }
    }

    private static func action(_ name: String, _ choices: [String], isList: Bool) -> String {
        if !choices.isEmpty {
            return "_kleos_choices \"\(choices.joined(separator: " "))\"\(isList ? " list" : "")"
        }
        return Completions.isPath(name) ? "_kleos_files" : ":"
    }

    /// Commands, options and arguments.
    private static var words: [String] {
        let global = CommonOptions.global.map { "--\($0.name)" }.joined(separator: " ")
        var lines = [
            "    if [[ -z $first ]]; then",
            "        if [[ $current == -* ]]; then _kleos_choices \"\(global)\"",
            "        else _kleos_choices \"\(Completions.firstWords.joined(separator: " "))\"; fi", "        return",
            "    fi",
            "    if [[ -z $second && $current != -?* ]]; then", "        case $first in",
        ]
        for first in Completions.firstWords {
            let seconds = Completions.secondWords(after: first)
            if !seconds.isEmpty {
                lines.append("            \(first)) _kleos_choices \"\(seconds.joined(separator: " "))\"; return ;;")
            }
        }
        lines += ["        esac", "    fi", "    case \"$first $second\" in"]
        for command in CommandTable.commands {
            let options = (command.options + CommonOptions.global).map { "--\($0.name)" }.joined(separator: " ")
            lines.append("        \(pattern(command)))")
            lines.append("            if [[ $current == -* ]]; then _kleos_choices \"\(options)\"")
            if let argument = command.arguments.first(where: { Completions.isPath($0.name) || !$0.choices.isEmpty }) {
                lines.append("            else \(action(argument.name, argument.choices, isList: false))")
            }
            lines.append("            fi ;;")
        }
        return lines + ["    esac"]
    }
}
