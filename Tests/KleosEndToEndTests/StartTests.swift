import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// What the daemon says and does where it cannot have what it needs.
@Suite("Starting and stopping the daemon")
struct StartTests {
    private func run(_ daemon: DaemonHarness) throws -> ChildProcess.Result {
        try ChildProcess(
            BuiltPrograms.path("kleosd"), ["--private", daemon.folder.path], errorFile: daemon.folder.path("second.err")
        ).finish()
    }

    @Test("A second daemon takes neither socket nor queue of the first")
    func secondDaemon() throws {
        let daemon = try DaemonHarness(files: [:])
        try daemon.start()
        let second = try run(daemon)
        #expect(second.ending == .exited(69))
        #expect(second.errors.contains("kleos.sock"))
        #expect(try daemon.kleos(["status"]).isSuccess)
    }

    @Test("The socket of a killed daemon is replaced")
    func staleSocket() throws {
        let daemon = try DaemonHarness(files: [:])
        try daemon.start()
        daemon.kill()
        try daemon.start()
        #expect(try daemon.kleos(["status"]).isSuccess)
        #expect(daemon.stop() == .exited(0))
        #expect(try !Folder.names(in: daemon.folder.path).contains("kleos.sock"))
    }

    @Test("A file that is no database is set aside whole, and said")
    func setsAside() throws {
        let daemon = try DaemonHarness(files: ["outbox.db": String(repeating: "no database ", count: 1_000)])
        try daemon.start()
        #expect(try daemon.kleos(["status"]).isSuccess)
        let kept = try Folder.names(in: daemon.folder.path).filter { $0.contains("damaged") }
        #expect(kept.count == 1)
        #expect(try daemon.log.contains("damaged"))
    }

    @Test("A folder that cannot be made is named, with what to do")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.path("file"), with: [])
        let process = try ChildProcess(
            BuiltPrograms.path("kleosd"), ["--private", folder.path, "--state", folder.path("file/queue")],
            errorFile: folder.path("err"))
        let result = try process.finish()
        #expect(result.ending == .exited(77))
        #expect(result.errors.contains("file/queue"))
    }

    @Test("Without a daemon the command line says where it looked")
    func noDaemon() throws {
        let daemon = try DaemonHarness(files: [:])
        let result = try daemon.kleos(["status"])
        #expect(result.ending == .exited(69))
        #expect(result.errors.contains(daemon.socketPath))
    }

    @Test("Wrong options are told with the way to help", arguments: [["--privat", "x"], ["--private"]])
    func usage(_ arguments: [String]) throws {
        let folder = try TemporaryFolder()
        let result = try ChildProcess(
            BuiltPrograms.path("kleosd"), arguments, errorFile: folder.path("err")
        ).finish()
        #expect(result.ending == .exited(64))
        #expect(result.errors.contains("kleosd --help"))
    }
}
