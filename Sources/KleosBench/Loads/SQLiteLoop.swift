import CSQLite
import Glibc
import KleosSupport

/// The least that SQLite costs: one prepared INSERT of 256 bytes into a table without indexes, in a log that is synced
/// at each commit.
enum SQLiteLoop {
    /// Inserts with `rows` rows a commit into a database in `folder`; latencies are those of commits.
    /// Throws `BenchFailure`.
    static func run(folder: String, rows: Int, seconds: Double) throws(BenchFailure) -> LoadResult {
        let path = "\(folder)/limit.\(getpid()).db"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        var insert: OpaquePointer?
        defer { sqlite3_finalize(insert) }
        func check(_ code: Int32, _ expected: Int32 = SQLITE_OK) throws(BenchFailure) {
            guard code != expected else { return }
            throw BenchFailure("SQLite at \(path): \(String(cString: sqlite3_errmsg(database)))")
        }
        try check(sqlite3_open(path, &database))
        let setup = """
            PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE event (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
            """
        try check(sqlite3_exec(database, setup, nil, nil, nil))
        try check(sqlite3_prepare_v2(database, "INSERT INTO event (body) VALUES (zeroblob(256))", -1, &insert, nil))

        let clock = SystemClock()
        let ownBefore = ProcessUsage.ownMicroseconds
        let began = clock.monotonicNanoseconds
        let end = began + Int64(seconds * 1e9)
        var latencies: [Double] = []
        var now = began
        while now < end {
            if rows > 1 { try check(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil)) }
            for _ in 0..<rows {
                try check(sqlite3_step(insert), SQLITE_DONE)
                try check(sqlite3_reset(insert))
            }
            if rows > 1 { try check(sqlite3_exec(database, "COMMIT", nil, nil, nil)) }
            let after = clock.monotonicNanoseconds
            latencies.append(Double(after - now) / 1e3)
            now = after
        }
        return LoadResult(
            count: latencies.count * rows, seconds: Double(now - began) / 1e9, latencies: latencies,
            ownMicroseconds: ProcessUsage.ownMicroseconds - ownBefore)
    }
}
