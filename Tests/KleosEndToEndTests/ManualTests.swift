import Glibc
import KleosCommandLine
import KleosConfig
import KleosSupport
import KleosTestSupport
import Testing

/// The pages of the manual, as `script/install` writes them.
@Suite("Pages of the manual", .timeLimit(.minutes(30)))
struct ManualTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(_ program: String, _ arguments: [String]) throws -> ChildProcess.Result {
        let errors = folder.path("errors")
        unlink(errors)
        return try ChildProcess(program, arguments, errorFile: errors).finish()
    }

    /// The page as the installed program prints it, in a file.
    private func page(_ page: ManualPage) throws -> (path: String, text: String) {
        let document = Scenario.repositoryPath("docs/protocol.md")
        let result = try run(
            BuiltPrograms.path("kleos"), ["help", "--man", page.rawValue, "--document", document])
        try #require(result.isSuccess, "\(result.errors)")
        let path = folder.path(page.rawValue)
        try SmallFile.replace(path, with: Array(result.output.utf8))
        return (path, result.output)
    }

    /// The page as people see it, in one line.
    private func shown(_ page: ManualPage) throws -> String {
        let result = try run(
            "/bin/sh",
            [
                "-c", "LC_ALL=C.UTF-8 MANWIDTH=500 MAN_KEEP_FORMATTING= man -l \"$1\" | col -bx", "show",
                try self.page(page).path,
            ])
        try #require(result.isSuccess, "\(result.errors)")
        return result.output.replacing("\u{2010}", with: "-").split { $0.isWhitespace }.joined(separator: " ")
    }

    private static let hasMan = access("/usr/bin/man", X_OK) == 0 && access("/usr/bin/col", X_OK) == 0
    private static let hasMandoc = access("/usr/bin/mandoc", X_OK) == 0

    @Test("mandoc finds no fault", .enabled(if: hasMandoc, "mandoc is not installed"), arguments: ManualPage.allCases)
    func lint(_ page: ManualPage) throws {
        let result = try run("/usr/bin/mandoc", ["-T", "lint", "-W", "style", try self.page(page).path])
        #expect(result.output.isEmpty && result.isSuccess, "\(result.output)")
    }

    @Test("groff finds no fault", .enabled(if: hasMan, "man is not installed"), arguments: ManualPage.allCases)
    func warnings(_ page: ManualPage) throws {
        let result = try run("/usr/bin/man", ["--warnings", "-l", try self.page(page).path])
        #expect(result.isSuccess && result.errors.isEmpty, "\(result.errors)")
    }

    @Test("Every command, option, argument and example is in kleos(1)", .enabled(if: hasMan, "man is not installed"))
    func commands() throws {
        let text = try shown(.kleos)
        func expect(_ words: String) {
            let words = words.split { $0.isWhitespace }.joined(separator: " ")
            #expect(text.contains(words), "\(words) is missing")
        }
        for command in CommandTable.commands {
            expect("kleos \(command.name)")
            expect(command.summary)
            for option in command.options { expect("\(option.spelling) \(option.summary)") }
            for argument in command.arguments { expect("\(argument.name) \(argument.summary)") }
            for example in command.examples { expect(example.line) }
        }
        for option in CommonOptions.global { expect("\(option.spelling) \(option.summary)") }
    }

    @Test("Every setting is in kleosd.conf(5)", .enabled(if: hasMan, "man is not installed"))
    func settings() throws {
        let text = try shown(.configuration)
        for file in [DaemonFile.definition, GameFile.definition, EndpointFile.definition] {
            #expect(text.contains(file.name.uppercased()))
            for section in file.sections {
                #expect(text.contains("[\(section.name)"))
                for setting in section.settings {
                    #expect(text.contains("\(setting.key)= "), "\(setting.key)= is missing")
                }
            }
        }
    }

    @Test("Every option of kleosd's own help is in kleosd(8)", .enabled(if: hasMan, "man is not installed"))
    func daemon() throws {
        let text = try shown(.kleosd)
        let help = try run(BuiltPrograms.path("kleosd"), ["--help"]).output
        let options = help.split { $0.isWhitespace }.filter { $0.hasPrefix("--") }
        #expect(options.count > 5)
        for option in options { #expect(text.contains(option), "\(option) is missing") }
    }

    @Test(
        "Every method and reason of the document is in kleos-protocol(7)", .enabled(if: hasMan, "man is not installed"))
    func protocolPage() throws {
        let text = try shown(.protocolPage)
        let document = try SmallFile.readText(at: Scenario.repositoryPath("docs/protocol.md"))
        let headings = document.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }
            .map { $0.drop { "# ".contains($0) }.replacing("`", with: "") }
        #expect(headings.count > 25)
        for heading in headings {
            #expect(text.contains(heading) || text.contains(heading.uppercased()), "\(heading) is missing")
        }
        #expect(text.contains("unknown-leaderboard -32002"))
    }

    @Test("The page of the protocol asks for its document")
    func needsDocument() throws {
        let result = try run(BuiltPrograms.path("kleos"), ["help", "--man", "kleos-protocol.7"])
        #expect(result.ending == .exited(64))
        #expect(result.errors.contains("--document docs/protocol.md"))
    }
}
