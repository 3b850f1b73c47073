import CSQLite
import KleosTestSupport
import Testing

/// Changes the database of a daemon that does not run, as no program of kleos does.
enum QueueFile {
    static func run(_ sql: String, _ daemon: DaemonHarness) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        try #require(sqlite3_open(daemon.folder.path("outbox.db"), &handle) == SQLITE_OK)
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
}
