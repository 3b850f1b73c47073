import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// Files, folders and sockets: who owns them, what stands in their place, what is made of them.
@Suite("Security: paths")
struct SecurityPathTests {
    /// Runs a daemon that is expected to refuse.
    private func refusal(_ daemon: DaemonHarness, _ arguments: String...) throws -> ChildProcess.Result {
        let process = try ChildProcess(
            BuiltPrograms.path("kleosd"), ["--private", daemon.folder.path] + arguments,
            errorFile: daemon.folder.path("refused.err"))
        return try process.finish()
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test("S-20: files are for the daemon's user alone, and sockets have their modes, whatever the umask")
    func modes() throws {
        let daemon = try DaemonHarness(files: [:])
        let old = umask(0)
        defer { umask(old) }
        try daemon.start()
        umask(old)
        #expect(try daemon.kleos(["status"]).isSuccess)
        #expect(mode(daemon.socketPath) == 0o666)
        #expect(mode(daemon.controlPath) == 0o660)
        let own = try Folder.names(in: daemon.folder.path).filter { $0.hasPrefix("outbox") || $0.hasSuffix(".lock") }
        #expect(own.contains("outbox.db") && own.contains("outbox.db-wal"))
        for name in own { #expect(mode(daemon.folder.path(name)) & 0o077 == 0, "\(name)") }
    }

    @Test("S-20: folders that the daemon makes are closed to others")
    func folderModes() throws {
        let daemon = try DaemonHarness(files: [:])
        let old = umask(0)
        defer { umask(old) }
        let process = try ChildProcess(
            BuiltPrograms.path("kleosd"),
            [
                "--private", daemon.folder.path, "--state", daemon.folder.path("a/state"), "--sockets",
                daemon.folder.path("b/run"),
            ], errorFile: daemon.folder.path("err"))
        let isUp = try Patience.until {
            try daemon.kleos(["status", "--socket", daemon.folder.path("b/run/kleos.sock")]).isSuccess
        }
        #expect(isUp)
        for name in ["a", "a/state", "b", "b/run"] { #expect(mode(daemon.folder.path(name)) == 0o700, "\(name)") }
        process.send(SIGTERM)
        #expect(process.wait() == .exited(0))
    }

    @Test(
        "S-21: what stands at a socket's path is neither followed nor replaced",
        arguments: ["file", "link", "dangling", "folder", "pipe"])
    func squattedSocket(kind: String) throws {
        for name in ["kleos.sock", "control.sock"] {
            let daemon = try DaemonHarness(files: ["precious": "precious"])
            let path = daemon.folder.path(name)
            switch kind {
            case "file": try daemon.write(name, "squatter")
            case "link": #expect(symlink(daemon.folder.path("precious"), path) == 0)
            case "dangling": #expect(symlink(daemon.folder.path("made"), path) == 0)
            case "folder": #expect(mkdir(path, 0o700) == 0)
            default: #expect(mkfifo(path, 0o600) == 0)
            }
            let result = try refusal(daemon)
            #expect(result.ending == .exited(69))
            #expect(result.errors.contains("a file is in its place"), "\(result.errors)")
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK)
            #expect(try SmallFile.readText(at: daemon.folder.path("precious")) == "precious")
            #expect(access(daemon.folder.path("made"), F_OK) != 0)
        }
    }

    @Test(
        "S-22: a link, pipe or folder in the database's place is refused, and what it points to is left alone",
        arguments: ["link", "dangling", "pipe", "folder", "device"])
    func plantedDatabase(kind: String) throws {
        let daemon = try DaemonHarness(files: ["precious": "SQLite format 3\0precious"])
        let path = daemon.folder.path("outbox.db")
        switch kind {
        case "link": #expect(symlink(daemon.folder.path("precious"), path) == 0)
        case "dangling": #expect(symlink(daemon.folder.path("made"), path) == 0)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "device": #expect(symlink("/dev/zero", path) == 0)
        default: #expect(mkdir(path, 0o700) == 0)
        }
        let result = try refusal(daemon)
        #expect(result.ending == .exited(77), "\(result.errors)")
        #expect(result.errors.contains("outbox.db"))
        #expect(try SmallFile.readText(at: daemon.folder.path("precious")) == "SQLite format 3\0precious")
        #expect(access(daemon.folder.path("made"), F_OK) != 0)
    }

    @Test("S-23: links at the names of the reserve, of the log and of databases set aside lead nowhere")
    func plantedNames() throws {
        let daemon = try DaemonHarness(files: [
            "precious": "precious", "outbox.db": String(repeating: "no database ", count: 1_000),
            "kleosd.conf": "[Storage]\nReserve=1M\n",
        ])
        let log = daemon.folder.path("outbox.db-wal")
        #expect(symlink(daemon.folder.path("precious"), log) == 0)
        #expect(try refusal(daemon).ending == .exited(77))
        #expect(try SmallFile.readText(at: daemon.folder.path("precious")) == "precious")
        unlink(log)
        for name in ["outbox.reserve", "outbox.db-shm"] {
            #expect(symlink(daemon.folder.path("precious"), daemon.folder.path(name)) == 0)
        }
        try daemon.start()
        #expect(try daemon.kleos(["status"]).isSuccess)
        daemon.stop()
        #expect(try SmallFile.readText(at: daemon.folder.path("precious")) == "precious")
        let aside = try Folder.names(in: daemon.folder.path).filter { $0.contains("damaged") }
        #expect(aside.count == 2, "\(aside)")
    }

    @Test("S-24: a folder that others own or may write is refused, with what to do", arguments: ["state", "sockets"])
    func weakFolder(role: String) throws {
        let daemon = try DaemonHarness(files: [:])
        let path = daemon.folder.path("shared")
        for mode in [0o777, 0o1777, 0o702] as [mode_t] {
            #expect(mkdir(path, 0o700) == 0 && chmod(path, mode) == 0)
            let result = try refusal(daemon, "--\(role)", path)
            #expect(result.ending == .exited(77))
            #expect(
                result.errors.contains(
                    "cannot use \(path): everybody may write there; take a folder that only user \(getuid()) can write"),
                "\(result.errors)")
            TemporaryFolder.remove(path)
        }
        guard OrdinaryUser.isRoot else { return }
        #expect(mkdir(path, 0o700) == 0 && chown(path, OrdinaryUser.ada.uid, 0) == 0)
        let result = try refusal(daemon, "--\(role)", path)
        #expect(result.ending == .exited(77))
        #expect(result.errors.contains("it belongs to user \(OrdinaryUser.ada.uid)"), "\(result.errors)")
    }

    @Test("S-25: a daemon that is started without standard descriptors gives their numbers to nothing else")
    func closedDescriptors() throws {
        let scenario = try Scenario(endpoint: "")
        let daemon = scenario.daemon
        let script = "exec '\(BuiltPrograms.path("kleosd"))' --private '\(daemon.folder.path)' 0<&- 1>&- 2>&-"
        let process = try ChildProcess("/bin/sh", ["-c", script], errorFile: daemon.folder.path("err"))
        #expect(try Patience.until { try daemon.kleos(["status"]).isSuccess })
        for number in 0...2 {
            let target = try #require(realpath("/proc/\(process.processID)/fd/\(number)", nil))
            #expect(String(cString: target) == "/dev/null")
            free(target)
        }
        // What the daemon logs goes nowhere, and above all to no client and into no file.
        try scenario.kleos("submit", "score", "minesweeper", "beginner", "77", "--player", "ada")
        process.send(SIGTERM)
        #expect(process.wait() == .exited(0))
        try daemon.start()
        #expect(try scenario.rows("list").count == 1)
    }

    @Test(
        "S-06: a token file that is a pipe, folder, device, socket or far too large is refused at once",
        arguments: ["pipe", "folder", "device", "socket", "large", "endless"])
    func oddSecretFile(kind: String) throws {
        let scenario = try SecurityScenario(url: "http://127.0.0.1:9", endpoint: "TokenFile=home.token")
        let daemon = scenario.daemon
        let path = daemon.folder.path("endpoints.d/home.token")
        var expected = "no regular file"
        switch kind {
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "folder":
            #expect(mkdir(path, 0o700) == 0)
        case "device": #expect(symlink("/dev/zero", path) == 0)
        case "socket":
            let listener = try UnixSocket.listen(at: path, mode: 0o600)
            withExtendedLifetime(listener) {}
            expected = "cannot open"
        case "endless":
            // A file that pretends to be empty and never ends, as those of /proc can.
            #expect(symlink("/proc/self/mountinfo", path) == 0)
            expected = "home.token"
        default:
            let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT, mode: 0o600)
            #expect(ftruncate(file.number, 1 << 40) == 0)
            expected = "File too large"
        }
        let result = try refusal(daemon)
        #expect(result.ending == .exited(78))
        #expect(result.errors.contains(expected), "\(result.errors)")
        #expect(result.errors.contains("TokenFile=home.token"))
    }

    @Test(
        "S-05: a token file that others may read is refused through a link, too, and one that nobody else may is taken")
    func linkedSecretFile() throws {
        let endpoint = try ScriptedEndpoint([ScriptedEndpoint.http("200 OK", body: #"{"accepted":true}"#)])
        let scenario = try SecurityScenario(url: endpoint.url, endpoint: "TokenFile=home.token")
        let daemon = scenario.daemon
        try daemon.write("elsewhere", "l1nked-token")
        #expect(symlink(daemon.folder.path("elsewhere"), daemon.folder.path("endpoints.d/home.token")) == 0)
        #expect(chmod(daemon.folder.path("elsewhere"), 0o644) == 0)
        let result = try refusal(daemon)
        #expect(result.ending == .exited(78) && result.errors.contains("mode 0644"), "\(result.errors)")
        #expect(chmod(daemon.folder.path("elsewhere"), 0o600) == 0)
        try daemon.start()
        try scenario.submit(5)
        try scenario.wait(for: "it is delivered") { endpoint.requests.count == 1 }
        #expect(endpoint.requests[0].contains("Bearer l1nked-token"))
    }

    @Test("S-07: a secret where it does not belong is refused, and never repeated")
    func misplacedSecret() throws {
        let secret = "m1splaced-s3cret"
        for line in [
            "URL=https://user:\(secret)@scores.example.org", "URL=https://scores.example.org/?token=\(secret)",
            "URL=https://scores.example.org/#\(secret)", "URL=user:\(secret)@scores.example.org",
            "URL=https://ü:\(secret)@scores.example.org", "URL=ftp://u:\(secret)@scores.example.org",
            "URL=https://scores.example.org\nToken=\(secret)", "URL=https://scores.example.org\nPassword=\(secret)",
        ] {
            let daemon = try DaemonHarness(files: ["endpoints.d/home.conf": "[Endpoint]\n\(line)\n"])
            let started = try refusal(daemon)
            #expect(started.ending == .exited(78))
            let checked = try daemon.kleos(["config", "check", "--dir", daemon.folder.path])
            #expect(!checked.isSuccess)
            for text in [started.errors, started.output, checked.errors, checked.output] {
                #expect(!text.contains(secret), "\(line): \(text)")
            }
        }
    }
}
