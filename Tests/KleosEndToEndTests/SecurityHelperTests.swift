import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What the command of `[Notices] Command=` gets of the daemon that runs it.
@Suite("Security: helpers")
struct SecurityHelperTests {
    private static let told = ScriptedEndpoint.http("200 OK", body: #"{"accepted":true,"rank":1,"improved":true}"#)

    /// A daemon whose hook is `script`, after one notice was offered to it.
    private func run(
        _ script: String, arguments: String = "", settings: String = "", environment: [String: String] = [:],
        until log: String
    ) throws -> SecurityScenario {
        let endpoint = try ScriptedEndpoint([Self.told])
        let scenario = try SecurityScenario(url: endpoint.url)
        let path = scenario.daemon.folder.path("hook")
        let text = "#!/bin/sh\ncd '\(scenario.daemon.folder.path)'\n\(script)\n"
        try SmallFile.replace(path, with: Array(text.utf8), mode: 0o700)
        try scenario.daemon.write(
            "kleosd.conf", "[Daemon]\nLogLevel=debug\n[Notices]\nCommand=\(path) \(arguments)\n\(settings)")
        try scenario.daemon.start(environment: environment)
        try scenario.submit(500)
        try scenario.wait(for: log) { try scenario.daemon.log.contains(log) }
        return scenario
    }

    private func file(_ name: String, _ scenario: SecurityScenario) throws -> String {
        try SmallFile.readText(at: scenario.daemon.folder.path(name))
    }

    @Test("S-30: a hook is run without a shell, with the arguments as they are written")
    func arguments() throws {
        let scenario = try run(
            "printf '%s\\n' \"$@\" > arguments", arguments: "'a b' $HOME ; `touch made` $(touch made) * \"&\"",
            until: "the notice command exited with status 0")
        let lines = try file("arguments", scenario).split(separator: "\n")
        #expect(lines == ["a b", "$HOME", ";", "`touch", "made`", "$(touch", "made)", "*", "&"])
        #expect(access(scenario.daemon.folder.path("made"), F_OK) != 0)
    }

    @Test("S-31: a hook has descriptors 0, 1 and 2, and none of the daemon's files and sockets")
    func descriptors() throws {
        let scenario = try run(
            "for f in /proc/$$/fd/*; do echo \"${f##*/} $(readlink \"$f\")\"; done > descriptors",
            until: "the notice command exited with status 0")
        let lines = try file("descriptors", scenario).split(separator: "\n")
        var targets: [Substring: Substring] = [:]
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1)
            targets[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        // A shell keeps its script open, and under another number the output that a redirection took the place of.
        let others = targets.filter { !["0", "1", "2"].contains($0.key) }.values
        #expect(targets["0"]?.hasPrefix("socket:") == true)
        #expect(targets["2"]?.hasPrefix("socket:") == true)
        let script = "\(scenario.daemon.folder.path)/hook"
        for target in others {
            // The pipe is the shell's own, through which it reads what readlink says.
            #expect(target == script || target == targets["2"] ?? "" || target.hasPrefix("pipe:"), "\(lines)")
        }
        #expect(!lines.contains { $0.contains("outbox") || $0.contains(".sock") || $0.contains("eventpoll") })
    }

    @Test("S-32: a hook sees the documented variables only")
    func variables() throws {
        let secrets = [
            "KLEOS_SECRET": "1", "CREDENTIALS_DIRECTORY": "/nowhere", "LISTEN_FDNAMES": "x", "LD_AUDIT": "",
            "AWS_SECRET_ACCESS_KEY": "1",
        ]
        let scenario = try run(
            "tr '\\0' '\\n' < /proc/$$/environ > variables", environment: secrets,
            until: "the notice command exited with status 0")
        let names = try file("variables", scenario).split(separator: "\n").map { $0.prefix { $0 != "=" } }
        let text = try SmallFile.readText(at: Scenario.repositoryPath("docs/security.md"))
        #expect(names.contains("PATH"))
        for name in names { #expect(text.contains("`\(name)`"), "\(name) is not in docs/security.md") }
        for name in secrets.keys { #expect(!names.contains(Substring(name))) }
    }

    @Test("S-33: a hook that takes too long is killed with its children, and the daemon goes on")
    func timeout() throws {
        let scenario = try run(
            "sleep 1000 & echo $! > child; wait", settings: "CommandTimeout=5s\n", until: "took too long and was killed"
        )
        let number = try file("child", scenario).split(separator: "\n").first.flatMap { pid_t($0) }
        let child = try #require(number)
        try scenario.wait(for: "the child is gone") {
            let state = try? SmallFile.readText(at: "/proc/\(child)/stat").split(separator: " ")[2]
            return state == nil || state == "Z"
        }
        #expect(scenario.daemon.stop() == .exited(0))
    }

    @Test("S-34: of a hook's output the beginning is logged, on one line, and no more is kept")
    func output() throws {
        let scenario = try run(
            "yes 'forged: \u{1B}[2J' | head -c 50000000", until: "the notice command exited with status 0")
        let lines = try scenario.daemon.log.split(separator: "\n").filter { $0.contains("forged") }
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { $0.hasPrefix("kleos: info: the notice command") && $0.utf8.count < 20_000 })
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") })
    }
}
