/// `kleos help`.
enum HelpCommand {
    static let specification = CommandSpecification(
        ["help"], "Show help on a command",
        arguments: [ArgumentSpecification("COMMAND", "The command's words.", isOptional: true, repeats: true)],
        examples: [CommandExample("kleos help config check", "The same as kleos config check --help.")],
        run: { invocation, session throws(CommandFailure) in
            session.terminal.write(try KleosProgram.help(invocation.arguments))
            return .success
        })
}
