import KleosSupport

/// `kleos help`.
enum HelpCommand {
    static let specification = CommandSpecification(
        ["help"], "Show help on a command, or print a page for man(1)",
        arguments: [ArgumentSpecification("COMMAND", "The command's words.", isOptional: true, repeats: true)],
        options: [
            OptionSpecification(
                "man", "PAGE", "Print this page in the language of man(1).",
                choices: ManualPage.allCases.map(\.rawValue)),
            OptionSpecification("document", "FILE", "docs/protocol.md, from which kleos-protocol.7 is made."),
        ],
        examples: [
            CommandExample("kleos help config check", "The same as kleos config check --help."),
            CommandExample("kleos help --man kleosd.conf.5 | man -l -", "Every setting, as a page of the manual."),
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        guard let page = invocation.value("man").flatMap(ManualPage.init) else {
            session.terminal.write(try KleosProgram.help(invocation.arguments))
            return .success
        }
        var document: String?
        if let path = invocation.value("document") {
            do throws(SystemError) {
                document = try SmallFile.readText(at: path)
            } catch {
                throw CommandFailure(.data, error.description, hint: "name the file docs/protocol.md of kleos")
            }
        }
        guard let text = page.text(document: document) else {
            throw .usage("\(page.rawValue) is made from a document", hint: "name it with --document docs/protocol.md")
        }
        session.terminal.write(text)
        return .success
    }
}
