import CSQLite

/// A copy of an open database in the making, some pages at a time.
///
/// What the source's own connection changes in between is carried over by SQLite.
final class BackupCopy {
    private let target: OpaquePointer
    private let backup: OpaquePointer
    private let path: String

    /// Begins a copy of `source` at `path`, an empty file. Throws `StoreError`.
    init(of source: OpaquePointer, to path: String) throws(StoreError) {
        self.path = path
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw StoreError(
                .unwritable, operation: "write the backup \(path)", code: code,
                message: "\(String(cString: sqlite3_errstr(code))); check that the daemon's user may write there")
        }
        // The whole file is synced once at its end; until then nobody knows its name.
        sqlite3_exec(opened, "PRAGMA locking_mode = EXCLUSIVE", nil, nil, nil)
        sqlite3_exec(opened, "PRAGMA synchronous = OFF", nil, nil, nil)
        sqlite3_exec(opened, "PRAGMA journal_mode = OFF", nil, nil, nil)
        sqlite3_exec(opened, "PRAGMA cache_size = -512", nil, nil, nil)
        guard let backup = sqlite3_backup_init(opened, "main", source, "main") else {
            let message = String(cString: sqlite3_errmsg(opened))
            sqlite3_close_v2(opened)
            throw StoreError(.fault, operation: "write the backup \(path)", message: message)
        }
        target = opened
        self.backup = backup
    }

    deinit {
        sqlite3_backup_finish(backup)
        sqlite3_close_v2(target)
    }

    /// Copies at most `pages` more; outside any transaction of the source. Returns whether there are more.
    /// Throws `StoreError`.
    func step(pages: Int) throws(StoreError) -> Bool {
        let code = sqlite3_backup_step(backup, Int32(pages))
        switch code & 0xFF {
        case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED: return true
        case SQLITE_DONE: return false
        case SQLITE_FULL:
            throw StoreError(
                .full, operation: "write the backup \(path)", code: code,
                message: "the disk is full; free some disk space")
        default:
            throw StoreError(
                .backupFailed, operation: "write the backup \(path)", code: code,
                message: String(cString: sqlite3_errstr(code)))
        }
    }

    /// Pages copied and pages in all, as of the latest step.
    var progress: (done: Int, total: Int) {
        let total = Int(sqlite3_backup_pagecount(backup))
        return (total - Int(sqlite3_backup_remaining(backup)), total)
    }
}
