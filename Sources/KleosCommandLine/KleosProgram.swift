package import KleosSupport

/// The program `kleos`.
package enum KleosProgram {
    /// Runs one command line, without the program's name, and returns the exit code.
    package static func run(_ arguments: [String], terminal: Terminal, clock: any Clock = SystemClock()) -> Int32 {
        let parser = ArgumentParser(commands: CommandTable.commands, globalOptions: CommonOptions.global)
        do throws(CommandFailure) {
            switch try parser.parse(arguments) {
            case .help(let words):
                terminal.write(try help(words))
                return ExitCode.success.rawValue
            case .version:
                terminal.write("\(VersionCommand.text)\n")
                return ExitCode.success.rawValue
            case .run(let command, let invocation):
                let session = Session(invocation, terminal: terminal, clock: clock)
                return try command.run(invocation, session).rawValue
            }
        } catch {
            var text = "kleos: \(error.message)"
            if let reason = error.reason { text += " (\(reason))" }
            if let hint = error.hint { text += "\n  \(hint)" }
            terminal.writeError(Printable.lines(text) + "\n")
            return error.code.rawValue
        }
    }

    /// The help on the commands that begin with `words`. Throws a usage failure where there are none.
    package static func help(_ words: [String]) throws(CommandFailure) -> String {
        let global = CommonOptions.global
        if words.isEmpty { return HelpText.overview(CommandTable.commands, globalOptions: global) }
        if let command = CommandTable.commands.first(where: { $0.words == words }) {
            return HelpText.command(command, globalOptions: global)
        }
        let family = CommandTable.commands.filter { $0.words.starts(with: words) }
        guard !family.isEmpty else {
            throw .usage("there is no command \(words.joined(separator: " "))", hint: "kleos --help lists them all")
        }
        return HelpText.family(family)
    }
}
