package import Glibc
package import KleosSupport

/// The real programs around one private daemon: its folder, its configuration, its start and its end.
package final class DaemonHarness {
    /// Everything of the daemon is in here.
    package let folder: TemporaryFolder
    private var daemon: ChildProcess?

    /// Makes a folder with the given configuration files, by name relative to it. Throws `SystemError`.
    package init(files: [String: String]) throws(SystemError) {
        folder = try TemporaryFolder(prefix: "kleosd")
        for (name, text) in files { try write(name, text) }
    }

    deinit {
        // Before its folder goes.
        kill()
    }

    /// The path of the socket that games use.
    package var socketPath: String { folder.path("kleos.sock") }

    /// The path of the socket that operators use.
    package var controlPath: String { folder.path("control.sock") }

    /// What the daemon has logged so far. Throws `SystemError`.
    package var log: String {
        get throws(SystemError) { try SmallFile.readText(at: folder.path("kleosd.log"), limitBytes: 64 << 20) }
    }

    /// The daemon's process id, while it runs.
    package var processID: pid_t? { daemon?.processID }

    /// Writes a file of the configuration. Throws `SystemError`.
    package func write(_ name: String, _ text: String) throws(SystemError) {
        let path = folder.path(name)
        if let slash = path.lastIndex(of: "/") { try Folder.make(String(path[..<slash])) }
        try SmallFile.replace(path, with: Array(text.utf8))
    }

    /// Starts the daemon and waits until it says that it is ready; `prefix` is a command that runs what follows it in
    /// its own place.
    /// Throws `SystemError`; ECHILD where it ended instead, with its log in the operation's text.
    package func start(
        _ arguments: [String] = [], environment: [String: String] = [:], through prefix: [String] = []
    ) throws(SystemError) {
        precondition(daemon == nil, "the daemon runs already")
        let notify = try NotifySocket(path: folder.path("notify.sock"))
        var variables = environment
        variables["NOTIFY_SOCKET"] = notify.path
        let words = prefix + [BuiltPrograms.path("kleosd"), "--private", folder.path] + arguments
        let process = try ChildProcess(
            words[0], Array(words.dropFirst()), environment: variables, errorFile: folder.path("kleosd.log"))
        while try !notify.wait(for: "READY=1") {
            if Self.isAlive(process) { continue }
            let said = try log
            throw SystemError("start kleosd; it said: \(said)", code: ECHILD)
        }
        daemon = process
    }

    /// Waits until the daemon ends by itself, and returns how. Throws `SystemError`, ETIMEDOUT where it does not end.
    package func waitForEnd() throws(SystemError) -> ProcessEnding? {
        defer { daemon = nil }
        return try daemon?.finish().ending
    }

    /// Runs `kleosd` to its end, where it is expected to end by itself. Throws `SystemError`.
    package func runDaemon(_ arguments: [String] = []) throws(SystemError) -> ChildProcess.Result {
        let errorFile = folder.path("kleosd.err")
        unlink(errorFile)
        return try ChildProcess(
            BuiltPrograms.path("kleosd"), ["--private", folder.path] + arguments, errorFile: errorFile
        ).finish()
    }

    private static func isAlive(_ process: ChildProcess) -> Bool {
        // A child that ended and was not waited for has no command line any more.
        let line = (try? SmallFile.read(at: "/proc/\(process.processID)/cmdline", limitBytes: 1 << 20)) ?? []
        return !line.isEmpty
    }

    /// Tells the daemon to stop and waits until it has.
    @discardableResult
    package func stop() -> ProcessEnding? {
        end(with: SIGTERM)
    }

    /// Kills the daemon as a power cut would, and waits until it is gone.
    package func kill() {
        end(with: SIGKILL)
    }

    /// Sends a signal to the running daemon.
    package func send(_ signal: Int32) {
        daemon?.send(signal)
    }

    /// Stops the running daemon as SIGSTOP does, and waits until it answers nobody; SIGCONT lets it go on.
    package func suspend() {
        daemon?.suspend()
    }

    @discardableResult
    private func end(with signal: Int32) -> ProcessEnding? {
        guard let process = daemon else { return nil }
        daemon = nil
        process.send(signal)
        return process.wait()
    }

    /// Runs `kleos` against this daemon to its end. Throws `SystemError`.
    package func kleos(_ arguments: [String], input: String? = nil) throws(SystemError) -> ChildProcess.Result {
        try startKleos(arguments, input: input).finish()
    }

    /// Starts `kleos` against this daemon. Throws `SystemError`.
    package func startKleos(_ arguments: [String], input: String? = nil) throws(SystemError) -> ChildProcess {
        var inputFile: String?
        if let input {
            try write("input", input)
            inputFile = folder.path("input")
        }
        let errorFile = folder.path("kleos.err")
        unlink(errorFile)
        return try ChildProcess(
            BuiltPrograms.path("kleos"), arguments,
            environment: ["KLEOS_SOCKET": socketPath, "KLEOS_CONTROL_SOCKET": controlPath, "NO_COLOR": "1"],
            errorFile: errorFile, input: inputFile)
    }
}

/// A practice endpoint as a program of its own, with a store that survives its restarts.
package final class PracticeProcess {
    /// Its base URL; the port stays over restarts.
    package private(set) var url: String = ""
    private let folder: TemporaryFolder
    private let arguments: [String]
    private var process: ChildProcess?

    /// Starts an endpoint on a free port and waits until it listens. Throws `SystemError`.
    package init(_ arguments: [String] = []) throws(SystemError) {
        folder = try TemporaryFolder(prefix: "practice")
        self.arguments = arguments
        try start(address: "127.0.0.1:0")
    }

    deinit {
        // Before its folder goes.
        kill()
    }

    private func start(address: String) throws(SystemError) {
        let child = try ChildProcess(
            BuiltPrograms.path("kleos-practice"),
            ["--listen", address, "--store", folder.path("store")] + arguments,
            errorFile: folder.path("log"))
        guard let line = try child.nextLine(), let address = line.split(separator: " ").last, address.hasPrefix("http")
        else {
            let said = try SmallFile.readText(at: folder.path("log"))
            throw SystemError("start kleos-practice: \(said)", code: ECHILD)
        }
        process = child
        url = String(address)
    }

    /// Kills the endpoint and waits until it is gone; clients are refused until `restart`.
    package func kill() {
        process?.send(SIGKILL)
        process?.wait()
        process = nil
    }

    /// Sends a signal to the running endpoint.
    package func send(_ signal: Int32) {
        process?.send(signal)
    }

    /// The file of what took effect, over all its starts: one JSON object a line.
    package var journalPath: String { folder.path("store/journal.jsonl") }

    /// Starts the endpoint again on the same port with the same store. Throws `SystemError`.
    package func restart() throws(SystemError) {
        kill()
        try start(address: url.replacing("http://", with: ""))
    }

    /// Runs `kleos-practice VERB URL …` to its end. Throws `SystemError`.
    package func steer(_ verb: String, _ arguments: [String] = []) throws(SystemError) -> ChildProcess.Result {
        try ChildProcess(
            BuiltPrograms.path("kleos-practice"), [verb, url] + arguments, errorFile: folder.path("steer.err")
        ).finish()
    }
}
