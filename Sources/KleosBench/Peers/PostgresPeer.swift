import Glibc
import KleosSupport

/// PostgreSQL as it is installed, with its own client pgbench: one INSERT a transaction, or 256 in a pipeline that is
/// one transaction.
struct PostgresPeer: Peer {
    let name = "PostgreSQL, pgbench"
    private let initdb: String
    private let postgres: String
    private let pgbench: String

    /// Nil where a program of it is missing.
    init?() {
        let versions = ((try? Folder.names(in: "/usr/lib/postgresql")) ?? []).map { "/usr/lib/postgresql/\($0)/bin" }
        guard let initdb = ProgramPath.installed("initdb", extra: versions.reversed()),
            let postgres = ProgramPath.installed("postgres", extra: versions.reversed()),
            let pgbench = ProgramPath.installed("pgbench", extra: versions.reversed())
        else { return nil }
        self.initdb = initdb
        self.postgres = postgres
        self.pgbench = pgbench
    }

    func start(folder: String) throws -> any RunningPeer {
        let user = try Self.user(folder)
        let data = "\(folder)/data"
        try Program(user + [initdb, "-D", data, "-A", "trust", "-U", "bench", "--no-sync"], output: "\(folder)/initdb")
            .finish()
        let port = try LoopbackPort.free()
        let program = try Program(
            user + [
                postgres, "-D", data, "-p", "\(port)", "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c",
                "max_wal_size=4GB",
            ], output: "\(folder)/log")
        try LoopbackPort.wait(for: port, of: program)
        let running = RunningPostgres(program: program, port: port, folder: folder, command: user + [pgbench])
        try running.prepare()
        return running
    }

    /// What runs a command as a user that PostgreSQL accepts, to whom `folder` is given: root it refuses. Throws
    /// `BenchFailure`.
    private static func user(_ folder: String) throws(BenchFailure) -> [String] {
        guard getuid() == 0 else { return [] }
        guard let entry = getpwnam("postgres") else { throw BenchFailure("PostgreSQL needs the user postgres") }
        let (uid, gid) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
        // The folder of the run lets him pass, and shows him nothing.
        let parent = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        guard chown(folder, uid, gid) == 0, chmod(parent, 0o711) == 0 else {
            throw BenchFailure("\(SystemError("give \(folder) to postgres"))")
        }
        return ["setpriv", "--reuid=\(uid)", "--regid=\(gid)", "--clear-groups"]
    }
}

/// A PostgreSQL that runs.
private struct RunningPostgres: RunningPeer {
    let program: Program
    let port: UInt16
    let folder: String
    /// pgbench, as the right user.
    let command: [String]

    private static let body = String(repeating: "e", count: 200)
    private static let insert = "INSERT INTO events (body) VALUES ('\(body)');\n"

    var id: Int32 { program.id }

    /// Makes the table, once the server, which listens earlier, takes it. Throws `BenchFailure` or `SystemError`.
    func prepare() throws {
        for _ in 0..<50 {
            do {
                return try createTable()
            } catch is BenchFailure {
                if program.ends(withinMilliseconds: 100) { break }
            }
        }
        try createTable()
    }

    private func createTable() throws {
        try bench("CREATE TABLE events (id bigserial PRIMARY KEY, body text NOT NULL);\n", ["-t", "1"])
    }

    func run(_ shape: Shape, seconds: Double) throws -> LoadResult {
        let inserts =
            shape.window == 1
            ? Self.insert
            : "\\startpipeline\n" + String(repeating: Self.insert, count: shape.window) + "\\endpipeline\n"
        let log = "\(folder)/latencies"
        let began = SystemClock().monotonicNanoseconds
        try bench(
            inserts,
            [
                "-M", "prepared", "-c", "\(shape.clients)", "-T", "\(max(1, Int(seconds.rounded())))", "-l",
                "--log-prefix=\(log)",
            ])
        let elapsed = Double(SystemClock().monotonicNanoseconds - began) / 1e9
        var latencies: [Double] = []
        for name in try Folder.names(in: folder) where name.hasPrefix("latencies") {
            let text = try SmallFile.readText(at: "\(folder)/\(name)", limitBytes: 256 << 20)
            latencies += text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return words.count > 2 ? Double(words[2]) : nil
            }
            unlink("\(folder)/\(name)")
        }
        // The time that pgbench was told; the rest of its life is connecting.
        let measured = min(elapsed, max(1, seconds.rounded()))
        return LoadResult(
            count: latencies.count * shape.window, seconds: measured, latencies: latencies, ownMicroseconds: 0)
    }

    private func bench(_ script: String, _ arguments: [String]) throws {
        let path = "\(folder)/script.sql"
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.writeAll(Array(script.utf8))
        try Program(
            command + ["-h", "127.0.0.1", "-p", "\(port)", "-U", "bench", "-n", "-f", path] + arguments + ["postgres"],
            output: "\(folder)/pgbench.log"
        ).finish()
    }
}
