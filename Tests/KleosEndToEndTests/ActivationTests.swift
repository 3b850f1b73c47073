import Dispatch
import Glibc
import KleosClient
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// A daemon that a service manager's sockets start, by systemd's own tool for that.
@Suite(
    "Socket activation",
    .enabled(if: access("/usr/bin/systemd-socket-activate", X_OK) == 0, "needs the Debian package systemd"))
struct ActivationTests {
    static let tool = "/usr/bin/systemd-socket-activate"
    private let daemon: DaemonHarness
    private let submit = ["submit", "score", "g", "b", "1", "--player", "ada", "--id", "one"]

    init() throws {
        daemon = try DaemonHarness(files: [
            "games.d/g.conf": "[Game]\nEndpoints=home\n[Leaderboard b]\n",
            "endpoints.d/home.conf": "[Endpoint]\nURL=http://127.0.0.1:9\n",
        ])
    }

    /// Listens at the harness's sockets; the first connection starts the daemon.
    private func activate() throws -> ChildProcess {
        let process = try ChildProcess(
            Self.tool,
            TestStage.sanitizerVariables.flatMap { ["-E", $0] } + [
                "-l", daemon.socketPath, "-l", daemon.controlPath, "--fdname=submit:control",
                BuiltPrograms.path("kleosd"), "--private", daemon.folder.path,
            ], errorFile: daemon.folder.path("kleosd.log"))
        let isListening = Patience.until { access(daemon.controlPath, F_OK) == 0 }
        let log = try daemon.log
        try #require(isListening, "\(log)")
        return process
    }

    private func end(_ process: ChildProcess) -> ProcessEnding {
        process.send(SIGTERM)
        return process.wait()
    }

    @Test("The first connection starts the daemon and is answered; its sockets outlive it")
    func starts() throws {
        let process = try activate()
        #expect(try daemon.kleos(submit).isSuccess)
        #expect(end(process) == .exited(0))
        #expect(access(daemon.socketPath, F_OK) == 0)
    }

    @Test("With a bad configuration it answers why, leaves the queue alone, and starts anew when that is mended")
    func badConfiguration() throws {
        var process = try activate()
        try #require(try daemon.kleos(submit).isSuccess)
        #expect(end(process) == .exited(0))
        unlink(daemon.socketPath)
        unlink(daemon.controlPath)

        try daemon.write("games.d/g.conf", "[Game]\nEndpoint=home\n[Leaderboard b]\n")
        process = try activate()
        let refused = try daemon.kleos(["list", "--state", "held"])
        #expect(refused.isSuccess && !refused.output.contains("held"), "\(refused.output)\(refused.errors)")
        let status = try daemon.kleos(["status"])
        #expect(status.output.contains("games.d/g.conf:2"), "\(status.output)\(status.errors)")
        let check = try daemon.kleos(["status", "--check"])
        #expect(check.ending == .exited(2) && check.output.contains("configuration"), "\(check.output)")
        #expect(try daemon.kleos(["flush"]).errors.contains("games.d/g.conf:2"))
        #expect(try !daemon.kleos(["reload"]).isSuccess)
        // What is submitted meanwhile is kept in the spool, by commands and by games.
        let spooled = try daemon.kleos(["submit", "score", "g", "b", "2", "--player", "bob"])
        #expect(spooled.isSuccess && spooled.output.contains("spooled"), "\(spooled.output)\(spooled.errors)")
        let lines = try daemon.kleos(
            ["submit", "-"],
            input: #"{"kind":"score","game":"g","leaderboard":"b","value":3,"player":"cleo"}"# + "\n")
        #expect(lines.isSuccess && lines.output.contains("spooled"), "\(lines.output)\(lines.errors)")
        #expect(try spoolsByClient())

        try daemon.write("games.d/g.conf", "[Game]\nEndpoints=home\n[Leaderboard b]\n")
        let reloaded = try daemon.kleos(["reload"])
        #expect(reloaded.isSuccess, "\(reloaded.errors)")
        // The same process, the same sockets, the same queue.
        #expect(try daemon.kleos(submit + ["--json"]).output.contains(#""duplicate":true"#))
        var listed = 0
        let isTaken = try Patience.until {
            listed = try daemon.kleos(["list", "--json"]).output.split(separator: "\n").count
            return listed == 4
        }
        #expect(isTaken, "\(listed) of 4 events are there")
        #expect(end(process) == .exited(0))
    }

    private func spoolsByClient() throws -> Bool {
        let client = KleosClient(
            game: "g", player: "dora", socketPath: daemon.socketPath, requestTimeoutMilliseconds: 500)
        let state = Mutex("")
        let done = DispatchSemaphore(value: 0)
        client.submitScore(4, leaderboard: "b") { result in
            state.withLock { $0 = "\(result)" }
            done.signal()
        }
        try #require(done.wait(timeout: Patience.end) == .success)
        client.close()
        return state.withLock { $0.hasPrefix("success") && $0.contains("spooled") }
    }
}
