import KleosCommandLine
import KleosSupport
import KleosTestSupport
import Testing

/// `docs/commands.md` is what the programs' own `--help` prints.
///
/// After a change of a command, run the tests once with KLEOS_UPDATE_FILES=1 to write the file anew.
@Suite("Reference of the commands")
struct CommandReferenceTests {
    private static let path = Scenario.repositoryPath("docs/commands.md")

    private func help(_ program: String, _ arguments: [String] = []) throws -> String {
        let folder = try TemporaryFolder()
        let result = try ChildProcess(
            BuiltPrograms.path(program), arguments + ["--help"], errorFile: folder.path("err")
        ).finish()
        #expect(result.isSuccess, "\(program) \(arguments): \(result.errors)")
        #expect(result.errors.isEmpty)
        return "```\n\(result.output)```\n"
    }

    @Test("The document has the help of every program and every command")
    func isCurrent() throws {
        var text = """
            # Commands

            What each program prints with `--help`; the tests keep this file and the programs together.

            ## kleos

            \(try help("kleos"))

            """
        for command in CommandTable.commands {
            text += "\n### kleos \(command.name)\n\n\(try help("kleos", command.words))"
        }
        for program in ["kleosd", "kleos-practice", "kleos-minesweeper"] {
            text += "\n## \(program)\n\n\(try help(program))"
        }
        if Environment["KLEOS_UPDATE_FILES"] != nil {
            try SmallFile.replace(Self.path, with: Array(text.utf8), mode: 0o644)
        }
        #expect(
            try SmallFile.readText(at: Self.path) == text, "set KLEOS_UPDATE_FILES=1 to write docs/commands.md anew")
    }
}
