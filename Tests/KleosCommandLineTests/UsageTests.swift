import KleosCommandLine
import Testing

@Suite("Wrong command lines")
struct UsageTests {
    @Test(
        arguments: [
            (["lst"], "unknown command lst; did you mean list?"),
            (["config", "chek"], "unknown config command chek; did you mean check?"),
            (["config"], "kleos config needs one of check, show"),
            (["list", "--stat", "dead"], "unknown option --stat; did you mean --state?"),
            (["list", "--state", "ded"], "ded is no state for --state; did you mean dead?"),
            (["list", "--state"], "--state needs a value: --state STATE"),
            (["discard", "--game", "g", "--yes", "--state", ""], "an empty value is no state for --state"),
            (["discard", "--game", "g", "--yes", "--state=dead,"], "an empty value is no state for --state"),
            (["list", "--all=yes"], "--all takes no value"),
            (["list", "--limit", "many"], "--limit needs a whole number from 1 to 100000, not many"),
            (["list", "extra"], "extra is one argument too many"),
            (["show"], "KEY is missing after kleos show"),
            (["submit", "score", "g", "b"], "VALUE is missing after kleos submit score"),
            (["--socket", "/x"], "no command is given"),
            (["retry"], "name events by their keys, or say which with options"),
            (["discard", "--all"], "discarding cannot be undone"),
            (["submit", "score", "g", "b", "1", "--metadata", "{,}"], "--metadata is no JSON"),
            (["submit", "score", "g", "b", "1", "--metadata", "[]"], "--metadata must be a JSON object"),
            (["submit", "score", "g", "b", "1", "--occurred-at", "noon"], "--occurred-at needs a time"),
            (["submit", "achievement", "g", "a", "--steps", "1", "--progress", "5"], "give only one of"),
            (["pause"], "ENDPOINT is missing after kleos pause"),
            (["help", "nonsense"], "there is no command nonsense"),
        ])
    func theMessageSaysWhatIsWrong(arguments: [String], message: String) {
        let run = CommandRun(arguments)
        #expect(run.code == 64)
        #expect(run.errors.hasPrefix("kleos: \(message)"), "\(run.errors)")
        #expect(run.output == "")
    }

    @Test func negativeNumbersAreArguments() throws {
        let parser = ArgumentParser(commands: CommandTable.commands, globalOptions: CommonOptions.global)
        guard case .run(let command, let invocation) = try parser.parse(["submit", "score", "g", "b", "-5", "--json"])
        else {
            Issue.record("no command")
            return
        }
        #expect(command.name == "submit score")
        #expect(invocation.arguments == ["g", "b", "-5"])
        #expect(invocation.has("json"))
    }

    @Test func optionsMayStandAnywhereAndRepeat() throws {
        let parser = ArgumentParser(commands: CommandTable.commands, globalOptions: CommonOptions.global)
        let line = ["--private", "list", "list", "--state=dead,held", "--state", "ready"]
        guard case .run(let command, let invocation) = try parser.parse(line) else {
            Issue.record("no command")
            return
        }
        #expect(command.name == "list")
        #expect(invocation.value("private") == "list")
        #expect(invocation.values("state") == ["dead", "held", "ready"])
    }

    @Test func aPathMayHaveACommaInIt() throws {
        let parser = ArgumentParser(commands: CommandTable.commands, globalOptions: CommonOptions.global)
        let line = ["practice", "--game", "a,b.conf", "--game", "c.conf", "--", "true"]
        guard case .run(_, let invocation) = try parser.parse(line) else {
            Issue.record("no command")
            return
        }
        #expect(invocation.values("game") == ["a,b.conf", "c.conf"])
    }

    @Test func afterTwoDashesEverythingIsAnArgument() throws {
        let parser = ArgumentParser(commands: CommandTable.commands, globalOptions: CommonOptions.global)
        guard case .run(_, let invocation) = try parser.parse(["submit", "score", "--", "--game", "b", "1"]) else {
            Issue.record("no command")
            return
        }
        #expect(invocation.arguments == ["--game", "b", "1"])
    }

    @Test func everyCommandHasHelpThatNamesItsOptions() {
        for command in CommandTable.commands {
            let run = CommandRun(command.words + ["--help"])
            #expect(run.code == 0)
            #expect(run.output.hasPrefix("Usage: kleos \(command.name)"))
            for option in command.options { #expect(run.output.contains(option.spelling)) }
            #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.hasPrefix("  echo") })
        }
        #expect(CommandRun(["--help"]).output.contains("submit achievement"))
        #expect(CommandRun([]).output == CommandRun(["--help"]).output)
        #expect(CommandRun(["submit", "--help"]).output.contains("kleos submit score"))
        #expect(CommandRun(["--version"]).output == "kleos 0.1.0\n")
    }
}
