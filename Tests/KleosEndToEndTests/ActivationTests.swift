import Glibc
import KleosSupport
import KleosTestSupport
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
            [
                "-l", daemon.socketPath, "-l", daemon.controlPath, "--fdname=submit:control",
                BuiltPrograms.path("kleosd"), "--private", daemon.folder.path,
            ], errorFile: daemon.folder.path("kleosd.log"))
        let isListening = Patience.until { access(daemon.controlPath, F_OK) == 0 }
        let log = try daemon.log
        try #require(isListening, "\(log)")
        return process
    }

    private func end(_ process: ChildProcess) -> ChildProcess.Ending {
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
        #expect(try daemon.kleos(["flush"]).errors.contains("games.d/g.conf:2"))
        #expect(try !daemon.kleos(["reload"]).isSuccess)

        try daemon.write("games.d/g.conf", "[Game]\nEndpoints=home\n[Leaderboard b]\n")
        let reloaded = try daemon.kleos(["reload"])
        #expect(reloaded.isSuccess, "\(reloaded.errors)")
        // The same process, the same sockets, the same queue.
        #expect(try daemon.kleos(submit + ["--json"]).output.contains(#""duplicate":true"#))
        #expect(end(process) == .exited(0))
    }
}
