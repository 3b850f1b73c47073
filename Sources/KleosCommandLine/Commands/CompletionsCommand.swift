/// `kleos completions`.
enum CompletionsCommand {
    static let specification = CommandSpecification(
        ["completions"], "Print what completes kleos in a shell",
        details: [
            "A package installs these. By hand: for bash into ~/.local/share/bash-completion/completions/kleos, for zsh "
                + "into a file _kleos in a folder of $fpath, for fish into ~/.config/fish/completions/kleos.fish."
        ],
        arguments: [
            ArgumentSpecification("SHELL", "bash, zsh or fish.", choices: Completions.allCases.map(\.rawValue))
        ],
        examples: [CommandExample("source <(kleos completions bash)", "For this session of bash.")],
        run: { invocation, session throws(CommandFailure) in
            guard let shell = Completions(rawValue: invocation.arguments[0]) else {
                throw .usage(
                    "there are no completions for \(invocation.arguments[0])",
                    hint: "it is one of \(Completions.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            session.terminal.write(shell.script)
            return .success
        })
}
