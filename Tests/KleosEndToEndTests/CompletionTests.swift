import Glibc
import KleosCommandLine
import KleosSupport
import KleosTestSupport
import Testing

/// What the shells themselves complete with the scripts that kleos prints.
@Suite("Completions", .timeLimit(.minutes(30)))
struct CompletionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for shell in Completions.allCases {
            let result = try ChildProcess(
                BuiltPrograms.path("kleos"), ["completions", shell.rawValue], errorFile: folder.path("errors")
            ).finish()
            try #require(result.isSuccess, "\(result.errors)")
            try SmallFile.replace(folder.path(shell.rawValue), with: Array(result.output.utf8))
        }
    }

    private func run(_ program: String, _ arguments: [String]) throws -> [String] {
        let errors = folder.path("shell.errors")
        unlink(errors)
        let result = try ChildProcess(program, arguments, environment: ["HOME": folder.path], errorFile: errors)
            .finish()
        #expect(result.isSuccess && result.errors.isEmpty, "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    /// What is offered behind the words of `line`, of which the last is under the cursor.
    private func bash(_ line: String) throws -> Set<String> {
        let script = """
            set -u
            . "$1"; shift
            complete -p kleos >/dev/null
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            COMPREPLY=()
            _kleos kleos "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        // As readline cuts a line: = is a word of its own.
        let words = line.replacing("=", with: " = ").split(separator: " ", omittingEmptySubsequences: false)
            .map(String.init)
        let cut = words.enumerated().filter { $0.element != "" || $0.offset == words.count - 1 }.map(\.element)
        return Set(try run("/bin/bash", ["-c", script, "bash", folder.path("bash")] + cut).filter { !$0.isEmpty })
    }

    private static let states: Set = ["dead", "delivered", "discarded"]
    private static let hasBash = access("/bin/bash", X_OK) == 0

    @Test("bash completes commands, options, states, shells and files", .enabled(if: hasBash, "bash is not installed"))
    func bash() throws {
        #expect(try bash("kleos stat") == ["status"])
        #expect(try bash("kleos ").isSuperset(of: ["submit", "list", "config", "forget"]))
        #expect(try bash("kleos config ") == ["check", "show"])
        #expect(try bash("kleos submit ") == ["score", "achievement", "-"])
        #expect(try bash("kleos list --sta") == ["--state"])
        #expect(try bash("kleos list --state d") == Self.states)
        #expect(try bash("kleos list --state=d") == Self.states)
        #expect(try bash("kleos list --state ready,dea") == ["ready,dead"])
        #expect(try bash("kleos --json list --game g --state h") == ["held"])
        #expect(try bash("kleos submit score g b 1 --pl") == ["--player"])
        #expect(try bash("kleos completions f") == ["fish"])
        #expect(try bash("kleos help --man kleosd.c") == ["kleosd.conf.5"])
        #expect(try bash("kleos --private \(folder.path)/ba") == ["\(folder.path)/bash"])
        #expect(try bash("kleos import \(folder.path)/fi") == ["\(folder.path)/fish"])
        #expect(try bash("kleos pause home --").isSuperset(of: ["--reason", "--json"]))
        #expect(try bash("kleos list --player p").isEmpty)
    }

    @Test("bash knows every command and option", .enabled(if: hasBash, "bash is not installed"))
    func bashIsComplete() throws {
        let commands = CommandTable.commands.filter { $0.words != ["submit", "-"] }
        for command in commands {
            let offered = try bash("kleos \(command.name) --")
            let missing = Set((command.options + CommonOptions.global).map { "--\($0.name)" }).subtracting(offered)
            #expect(missing.isEmpty, "kleos \(command.name) lacks \(missing)")
        }
        for option in CommandTable.commands.flatMap(\.options) where !option.choices.isEmpty {
            let command = try #require(commands.first { $0.options.contains { $0.name == option.name } })
            #expect(try bash("kleos \(command.name) --\(option.name) ").isSuperset(of: option.choices))
        }
    }

    @Test(
        "fish completes commands, options and states",
        .enabled(if: access("/usr/bin/fish", X_OK) == 0, "fish is not installed"))
    func fish() throws {
        func fish(_ line: String) throws -> Set<String> {
            let lines = try run(
                "/usr/bin/fish", ["--no-config", "-c", "source \(folder.path("fish")); complete -C \"\(line)\""])
            return Set(lines.compactMap { $0.split(separator: "\t").first.map { String($0) } })
        }
        #expect(try fish("kleos stat") == ["status"])
        #expect(try fish("kleos config ") == ["check", "show"])
        #expect(try fish("kleos list --sta") == ["--state"])
        #expect(try fish("kleos list --state d") == Self.states)
        #expect(try fish("kleos completions z") == ["zsh"])
    }

    @Test(
        "zsh completes commands, options and states",
        .enabled(if: access("/usr/bin/zsh", X_OK) == 0, "zsh is not installed"))
    func zsh() throws {
        // The real zsh at a terminal of its own: it is typed to, and what it shows after two tabs is read.
        let script = #"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            read_until() { seen=; local part; while zpty -r shell part; do seen+=$part; [[ $seen == *$1* ]] && break; done }
            zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
            # The line editor says when it takes keys.
            zpty -w shell "zle-line-init() { print '<'line'>' }; zle -N zle-line-init"
            read_until '<line>'
            zpty -w -n shell "$2"$'\t\t'
            zpty -w -n shell $'\x15'"print '<'done'>'"$'\n'
            read_until '<done>'
            zpty -d shell
            print -r -- $seen
            """#
        try Folder.make(folder.path("functions"))
        try SmallFile.replace(folder.path("functions/_kleos"), with: try SmallFile.read(at: folder.path("zsh")))
        func expect(_ words: Set<String>, after line: String) throws {
            let seen = try run("/usr/bin/zsh", ["-f", "-c", script, "zsh", folder.path("functions"), line]).joined()
            for word in words { #expect(seen.contains(word), "\(word) is not offered after \(line)") }
        }
        try expect(["submit", "show", "status", "standing"], after: "kleos s")
        try expect(["check", "show"], after: "kleos config ")
        try expect(Self.states, after: "kleos list --state d")
        try expect(["--state", "--endpoint", "--json"], after: "kleos list --")
    }
}
