import Glibc
import KleosClient
import KleosJSON
import KleosSupport
import KleosWire

/// A private kleosd with a folder of its own, and the questions that the run asks it.
final class BenchDaemon {
    /// The endpoint of all measured events; it is paused unless deliveries are measured.
    static let endpoint = "bench"
    /// The game whose events wait for `endpoint`.
    static let game = "bench"
    /// The game whose events are delivered at once, to an endpoint of its own.
    static let aloneGame = "alone"

    private static let patienceMilliseconds: Int64 = 120_000
    private let clock = SystemClock()
    private let folder: String
    private var program: Program?

    /// Makes the folder and the configuration, with deliveries going to `url` and `boards` boards of no use.
    /// Throws `SystemError`.
    init(folder: String, url: String, boards: Int = 0) throws(SystemError) {
        self.folder = folder
        try Folder.make("\(folder)/games.d")
        try Folder.make("\(folder)/endpoints.d")
        try write(
            "kleosd.conf",
            "[Daemon]\nLogLevel=warning\n[Storage]\nMaximumSize=64G\nMaximumSharePerUser=100%\nKeepFree=256M\n")
        for (game, endpoint) in [(Self.game, Self.endpoint), (Self.aloneGame, "alone")] {
            try write(
                "games.d/\(game).conf", "[Game]\nId=\(game)\nEndpoints=\(endpoint)\n[Leaderboard runs]\nKeep=every\n")
            try write("endpoints.d/\(endpoint).conf", "[Endpoint]\nURL=\(url)\n[Limits]\nInFlight=32\n")
        }
        if boards > 0 {
            let sections = (1...boards).map { "[Leaderboard board-\($0)]\nTitle=Board \($0)\nKeep=best\n" }
            try write("games.d/many.conf", "[Game]\nId=many\nEndpoints=bench\n" + sections.joined())
        }
    }

    deinit { remove() }

    /// The socket of games.
    var socket: String { "\(folder)/kleos.sock" }

    /// The process id. The daemon runs.
    var id: Int32 { program?.id ?? 0 }

    /// The command line of one of kleos's programs for this daemon.
    func command(_ arguments: [String]) -> [String] {
        [ProgramPath.own("kleos")] + arguments + ["--private", folder]
    }

    /// Starts it, and returns the milliseconds to its first answer. Throws `BenchFailure` or `SystemError`.
    @discardableResult
    func start(through prefix: [String] = []) throws -> Double {
        let began = clock.monotonicNanoseconds
        program = try Program(
            prefix + [ProgramPath.own("kleosd"), "--private", folder], output: "\(folder)/kleosd.log")
        try connected { connection throws(ConnectionError) in _ = try connection.request(.hello) }
        return Double(clock.monotonicNanoseconds - began) / 1e6
    }

    /// Kills it, starts it again, and returns the milliseconds from the signal to the first event that is on disk
    /// again. Throws `BenchFailure` or `SystemError`.
    func killAndRestart(_ events: inout EventLines) throws -> Double {
        let began = clock.monotonicNanoseconds
        program?.stop(SIGKILL)
        program = try Program([ProgramPath.own("kleosd"), "--private", folder], output: "\(folder)/kleosd.log")
        let line = events.next()
        while true {
            do {
                try submitAlone(line)
                return Double(clock.monotonicNanoseconds - began) / 1e6
            } catch let error as SystemError {
                try checkAlive(since: began, "\(error)")
            }
        }
    }

    /// Submits one event on a connection of its own, and waits for the answer. Throws `SystemError` where nobody
    /// listens yet, `BenchFailure` where the event is refused.
    func submitAlone(_ line: [UInt8]) throws {
        let connection = try UnixSocket.connect(to: socket)
        try connection.writeAll(line)
        var answer: [UInt8] = []
        while answer.last != UInt8(ascii: "\n") {
            let bytes = try connection.read(limitBytes: 4_096)
            guard !bytes.isEmpty else { throw SystemError("read from \(socket)", code: ECONNRESET) }
            answer += bytes
        }
        let text = String(decoding: answer, as: UTF8.self)
        guard !text.contains("\"error\"") else { throw BenchFailure("kleosd refused an event: \(text)") }
    }

    /// Stops or begins deliveries of the measured events. Throws `BenchFailure` or `SystemError`.
    func setPaused(_ isPaused: Bool) throws {
        try Program(
            command([isPaused ? "pause" : "resume", Self.endpoint]), output: "\(folder)/kleos.log"
        ).finish()
    }

    /// How many deliveries are in `state`. Throws `BenchFailure`.
    func count(_ states: String...) throws -> Int {
        try connected { connection throws(ConnectionError) in
            let counts = try connection.request(.status)["counts"]
            return states.reduce(0) { $0 + Int(counts?[$1]?.int64Value ?? 0) }
        }
    }

    /// What it has used so far. Throws `SystemError`.
    func usage() throws(SystemError) -> ProcessUsage { try ProcessUsage.read(id) }

    /// What its log holds. Throws `SystemError`.
    func wal() throws(SystemError) -> WalFrames { try WalFrames(path: "\(folder)/outbox.db-wal") }

    /// Ends it and removes its folder.
    func remove() {
        program?.stop(SIGKILL)
        program = nil
        BenchFolder.remove(folder)
    }

    /// Asks on a new connection, and waits for a daemon that does not listen yet.
    private func connected<Result>(
        _ ask: (KleosConnection) throws(ConnectionError) -> Result
    ) throws -> Result {
        let began = clock.monotonicNanoseconds
        while true {
            do {
                return try ask(KleosConnection(path: socket))
            } catch let error as SystemError {
                try checkAlive(since: began, "\(error)")
            }
        }
    }

    /// Waits a moment before the next try. Throws `BenchFailure` where there is no daemon to wait for.
    private func checkAlive(since began: Int64, _ what: String) throws(BenchFailure) {
        guard let program else { throw BenchFailure("kleosd is not started: \(what)") }
        if program.ends(withinMilliseconds: 1) {
            throw BenchFailure("kleosd ended (\(what)); it said: \(program.said)")
        }
        guard clock.monotonicNanoseconds - began < Self.patienceMilliseconds * 1_000_000 else {
            throw BenchFailure("kleosd does not answer: \(what)")
        }
    }

    private func write(_ name: String, _ text: String) throws(SystemError) {
        let file = try FileDescriptor.open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC)
        try file.writeAll(Array(text.utf8), path: name)
    }
}
