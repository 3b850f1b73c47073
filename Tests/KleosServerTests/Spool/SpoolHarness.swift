import Dispatch
import Glibc
import KleosConfig
import KleosJSON
import KleosServer
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// A server with a spool in a folder of its own.
final class SpoolHarness {
    let server: ServerHarness
    let path: String
    private let client: TestClient
    private(set) var intake: SpoolIntake

    /// Makes the spool; nothing is taken in before `start`. The files are this process's user's, who may submit.
    /// `path` is where the spool is, by default beside the queue.
    init(limits: ConnectionLimits = ConnectionLimits(), path: String? = nil) throws {
        server = try ServerHarness(limits: limits, daemonUID: getuid())
        self.path = path ?? server.store.folder.path("spool")
        client = try server.control()
        intake = Self.makeIntake(self.path, server)
        try Folder.make(self.path)
    }

    private static func makeIntake(_ path: String, _ server: ServerHarness) -> SpoolIntake {
        SpoolIntake(
            path: path, mode: 0o700, server: server.server, clock: SystemClock(), log: Log(threshold: .error))
    }

    deinit {
        stop()
    }

    func start() {
        intake.start {}
    }

    func stop() {
        let done = DispatchSemaphore(value: 0)
        intake.stop { done.signal() }
        done.wait()
    }

    /// Begins anew, as the next run of a daemon does.
    func restart() {
        stop()
        intake = Self.makeIntake(path, server)
        start()
    }

    /// Puts a file into the spool as a client does: written aside, renamed.
    func put(_ name: String, _ text: String) throws {
        try SmallFile.replace("\(path)/.\(name)", with: Array(text.utf8), mode: 0o640)
        try #require(rename("\(path)/.\(name)", "\(path)/\(name)") == 0)
    }

    /// The text of a score's file.
    static func score(_ value: Int, id: String, game: String = "minesweeper", board: String = "every") -> String {
        "{\"kind\":\"score\",\"game\":\"\(game)\",\"leaderboard\":\"\(board)\",\"value\":\(value),\"id\":\"\(id)\"}\n"
    }

    func status() throws -> SpoolStatus? {
        try client.ask("status").result.flatMap { StatusAnswer(json: $0).spool }
    }

    /// Asks for the status until `isTrue`, each time an answered request.
    @discardableResult
    func wait(until isTrue: (SpoolStatus) -> Bool, _ place: SourceLocation = #_sourceLocation) throws -> SpoolStatus? {
        var last: SpoolStatus?
        let isSeen = try Patience.until {
            last = try status()
            return last.map(isTrue) ?? false
        }
        if !isSeen { Issue.record("never: \(String(describing: last))", sourceLocation: place) }
        return last
    }

    /// Ids of the recorded events, each as often as there is an event with it.
    func ids() throws -> [String] {
        let rows = try client.ask("list", "{\"limit\":500}").result?["deliveries"]?.arrayValue ?? []
        return rows.compactMap { $0["id"]?.stringValue }.sorted()
    }

    /// The names in the spool and in its folders.
    func names(_ folder: String = "") throws -> [String] {
        try Folder.names(in: folder.isEmpty ? path : "\(path)/\(folder)")
            .filter { !folder.isEmpty || ($0 != "taking" && $0 != "rejected") }
    }
}
