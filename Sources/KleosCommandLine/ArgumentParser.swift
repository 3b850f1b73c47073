import KleosModel

/// Reads a command line by the command table. Pure.
package struct ArgumentParser: Sendable {
    private let commands: [CommandSpecification]
    private let globalOptions: [OptionSpecification]

    /// Makes a parser for a table.
    package init(commands: [CommandSpecification], globalOptions: [OptionSpecification]) {
        self.commands = commands
        self.globalOptions = globalOptions
    }

    /// What a command line asks for.
    package enum Request: Sendable {
        case run(CommandSpecification, Invocation)
        /// Help on the commands that begin with these words; all commands where there are none.
        case help([String])
        /// `--version`.
        case version
    }

    /// Reads the arguments that follow the program's name. Throws a usage failure.
    package func parse(_ arguments: [String]) throws(CommandFailure) -> Request {
        if arguments.isEmpty { return .help([]) }
        let words = leadingWords(arguments)
        guard let command = command(matching: words) else { return try unmatched(arguments, words: words) }
        var scan = Scan(options: globalOptions + command.options, wordsToSkip: command.words.count)
        try scan.read(arguments, of: command)
        if scan.asksForHelp { return .help(command.words) }
        if scan.invocation.has("version") { return .version }
        try check(scan.invocation, of: command)
        return .run(command, scan.invocation)
    }

    /// The arguments that are neither options nor values of options, up to `--`.
    private func leadingWords(_ arguments: [String]) -> [String] {
        let allOptions = globalOptions + commands.flatMap(\.options)
        var words: [String] = []
        var skipsNext = false
        for argument in arguments {
            if skipsNext {
                skipsNext = false
            } else if argument == "--" {
                break
            } else if Scan.isOption(argument) {
                let name = argument.drop { $0 == "-" }
                skipsNext = allOptions.contains { $0.name == name && $0.valueName != nil }
            } else {
                words.append(argument)
            }
        }
        return words
    }

    private func command(matching words: [String]) -> CommandSpecification? {
        commands.filter { words.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
    }

    private func unmatched(_ arguments: [String], words: [String]) throws(CommandFailure) -> Request {
        let asksForHelp = arguments.contains("--help") || arguments.contains("-h")
        if words.isEmpty {
            if asksForHelp { return .help([]) }
            if arguments.contains("--version") { return .version }
            var scan = Scan(options: globalOptions, wordsToSkip: 0)
            try scan.read(arguments, of: nil)
            throw .usage("no command is given", hint: "kleos --help lists the commands")
        }
        let family = commands.filter { $0.words.first == words[0] }
        if family.isEmpty {
            let names = Array(Set(commands.compactMap(\.words.first)))
            throw unknown("command", words[0], names: names, hint: "kleos --help lists the commands")
        }
        if asksForHelp { return .help([words[0]]) }
        let seconds = family.compactMap { $0.words.dropFirst().first }
        guard words.count > 1 else {
            throw .usage(
                "kleos \(words[0]) needs one of \(seconds.joined(separator: ", "))",
                hint: "kleos \(words[0]) --help says more")
        }
        throw unknown(
            "\(words[0]) command", words[1], names: seconds,
            hint: "it is one of \(seconds.joined(separator: ", ")); kleos \(words[0]) --help says more")
    }

    private func unknown(_ what: String, _ name: String, names: [String], hint: String) -> CommandFailure {
        let suggestion = Spelling.nearest(to: name, in: names).map { "; did you mean \($0)?" } ?? ""
        return .usage("unknown \(what) \(name)\(suggestion)", hint: hint)
    }

    private func check(_ invocation: Invocation, of command: CommandSpecification) throws(CommandFailure) {
        let help = "kleos \(command.name) --help says more"
        let given = invocation.arguments.count
        for (index, argument) in command.arguments.enumerated() where !argument.isOptional && index >= given {
            throw .usage("\(argument.name) is missing after kleos \(command.name)", hint: help)
        }
        let takesAll = command.arguments.contains(where: \.repeats)
        if !takesAll, given > command.arguments.count {
            throw .usage("\(invocation.arguments[command.arguments.count]) is one argument too many", hint: help)
        }
    }
}

/// One pass over the arguments.
private struct Scan {
    let options: [OptionSpecification]
    var wordsToSkip: Int
    var invocation = Invocation()
    var asksForHelp = false

    init(options: [OptionSpecification], wordsToSkip: Int) {
        self.options = options
        self.wordsToSkip = wordsToSkip
    }

    /// Whether an argument is an option: a dash alone and negative numbers are not.
    static func isOption(_ argument: String) -> Bool {
        guard argument.first == "-", let second = argument.dropFirst().first else { return false }
        return !(second.isNumber || second == ".")
    }

    mutating func read(_ arguments: [String], of command: CommandSpecification?) throws(CommandFailure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                for word in rest { take(word) }
                return
            }
            guard Self.isOption(argument) else {
                take(argument)
                continue
            }
            if argument == "--help" || argument == "-h" {
                asksForHelp = true
                continue
            }
            try readOption(argument, rest: &rest, command: command)
        }
    }

    private mutating func take(_ word: String) {
        if wordsToSkip > 0 { wordsToSkip -= 1 } else { invocation.arguments.append(word) }
    }

    private mutating func readOption(
        _ argument: String, rest: inout ArraySlice<String>, command: CommandSpecification?
    ) throws(CommandFailure) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts[0].hasPrefix("--"), let option = options.first(where: { "--\($0.name)" == parts[0] }) else {
            let name = String(parts[0].drop { $0 == "-" })
            let nearest = Spelling.nearest(to: name, in: options.map(\.name))
            let help = command.map { "kleos \($0.name) --help lists the options" } ?? "kleos --help lists the options"
            throw .usage(
                "unknown option \(parts[0])\(nearest.map { "; did you mean --\($0)?" } ?? "")", hint: help)
        }
        guard let valueName = option.valueName else {
            guard parts.count == 1 else { throw .usage("--\(option.name) takes no value") }
            invocation.options[option.name] = []
            return
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw .usage("--\(option.name) needs a value: \(option.spelling)", hint: option.summary)
        }
        let isList = option.repeats && !option.choices.isEmpty
        // An empty value stays one: left out, it would widen what the command means.
        let values =
            isList ? value.split(separator: ",", omittingEmptySubsequences: false).map(String.init) : [value]
        for value in values where !option.choices.isEmpty && !option.choices.contains(value) {
            let nearest = Spelling.nearest(to: value, in: option.choices)
            throw .usage(
                "\(value.isEmpty ? "an empty value" : value) is no \(valueName.lowercased()) for --\(option.name)"
                    + (nearest.map { "; did you mean \($0)?" } ?? ""),
                hint: "it is one of \(option.choices.joined(separator: ", "))")
        }
        if option.repeats {
            invocation.options[option.name, default: []] += values
        } else {
            invocation.options[option.name] = values
        }
    }
}
