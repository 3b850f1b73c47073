import CSQLite

/// The one connection to the database, with its prepared statements.
final class Connection {
    private let handle: OpaquePointer
    private let path: String
    /// By the ids of their texts, which are few: every text is a constant of the program.
    private var statements: [Statement?] = []

    /// Set once, before SQLite starts; it refuses afterwards, and then the statistics stay on.
    private static let configuration: Int32 = kleos_sqlite_omit_statistics()

    /// Opens or makes the database at `path` without reading it yet. `fileSystem` is the name of an SQLite VFS; nil is
    /// the system's. Throws `StoreError`.
    init(path: String, fileSystem: String? = nil) throws(StoreError) {
        _ = Self.configuration
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, fileSystem)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            let extended = opened.map { sqlite3_extended_errcode($0) } ?? code
            sqlite3_close_v2(opened)
            throw StoreError(
                .unwritable, operation: "open \(path)", code: extended,
                message: "\(message); check that the folder exists and that the daemon's user may write there")
        }
        guard sqlite3_db_readonly(opened, "main") != 1 else {
            sqlite3_close_v2(opened)
            throw StoreError(
                .unwritable, operation: "open \(path)", code: SQLITE_READONLY,
                message: "it is read-only; check that the daemon's user may write the folder and the file")
        }
        self.path = path
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 500)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Whether a transaction is open; SQLite ends one by itself after some errors.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rows changed since the connection was opened.
    var totalChanges: Int64 { sqlite3_total_changes64(handle) }

    /// Counts the pages of the write-ahead log after each COMMIT.
    func countLogPages() {
        // Sound: SQLite calls the hook on the thread that commits, and never after the connection is closed, until when
        // this object keeps the counter.
        let counter = Unmanaged.passUnretained(logPages).toOpaque()
        sqlite3_wal_hook(
            handle,
            { counter, _, _, pages in
                guard let counter else { return SQLITE_OK }
                // The same object, as said above.
                Unmanaged<PageCounter>.fromOpaque(counter).takeUnretainedValue().pages = Int(pages)
                return SQLITE_OK
            }, counter)
    }

    /// Pages in the write-ahead log after the latest COMMIT that wrote any.
    let logPages = PageCounter()

    /// A number that SQLite's hook writes.
    final class PageCounter {
        var pages = 0
    }

    /// Leaves the log beside the database when the connection closes.
    func keepLogOnClose() { _ = kleos_sqlite_keep_wal_on_close(handle) }

    /// Brings the log that a daemon before this one left to the disk, whatever became of that one's syncs. Throws
    /// `StoreError`.
    func rewriteLog() throws(StoreError) {
        let code = kleos_sqlite_rewrite_log(handle)
        guard code == SQLITE_OK else { throw failure("rewrite the log", code, String(cString: sqlite3_errstr(code))) }
    }

    /// The texts that were prepared so far, in the order of their ids.
    var preparedTexts: [String] { statements.compactMap { $0?.sql } }

    /// Executes `sql` once, without keeping it prepared. Throws `StoreError`.
    func execute(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(sql) }
    }

    /// Executes a statement to its end. Returns how many rows it changed. Throws `StoreError`.
    @discardableResult
    func run(_ sql: SQL, _ values: SQLValue...) throws(StoreError) -> Int { try run(sql, values: values) }

    /// As `run`, with the values in an array.
    @discardableResult
    func run(_ sql: SQL, values: [SQLValue]) throws(StoreError) -> Int {
        let statement = try prepared(sql)
        defer { statement.reset() }
        statement.bind(values)
        var code = statement.step()
        while code == SQLITE_ROW { code = statement.step() }
        guard code == SQLITE_DONE else { throw failure(sql.text) }
        return Int(sqlite3_changes(handle))
    }

    /// As `run`, where `bind` gives the statement its values.
    @discardableResult
    func run(_ sql: SQL, bind: (Statement) -> Void) throws(StoreError) -> Int {
        let statement = try prepared(sql)
        defer { statement.reset() }
        bind(statement)
        let code = statement.step()
        guard code == SQLITE_DONE else { throw failure(sql.text) }
        return Int(sqlite3_changes(handle))
    }

    /// The row id of the latest INSERT.
    var lastRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Reads the first row, or nil where there is none. Throws `StoreError`.
    func first<T>(
        _ sql: SQL, _ values: SQLValue..., read: (Statement) throws(StoreError) -> T
    ) throws(StoreError) -> T? {
        try first(sql, values: values, read: read)
    }

    /// As `first`, with the values in an array.
    func first<T>(
        _ sql: SQL, values: [SQLValue], read: (Statement) throws(StoreError) -> T
    ) throws(StoreError) -> T? {
        let statement = try prepared(sql)
        defer { statement.reset() }
        statement.bind(values)
        switch statement.step() {
        case SQLITE_ROW:
            let result = try read(statement)
            try checkDamage(statement)
            return result
        case SQLITE_DONE: return nil
        default: throw failure(sql.text)
        }
    }

    /// Reads the first column of the first row as an integer. Throws `StoreError`.
    func integer(_ sql: SQL, _ values: SQLValue...) throws(StoreError) -> Int64? {
        let statement = try prepared(sql)
        defer { statement.reset() }
        statement.bind(values)
        switch statement.step() {
        case SQLITE_ROW: return statement.optionalInteger(0)
        case SQLITE_DONE: return nil
        default: throw failure(sql.text)
        }
    }

    /// Reads rows until there are no more, or `limit` results; rows for which `read` returns nil are passed over.
    /// `read` executes no other statement. Throws `StoreError`.
    func rows<T>(
        _ sql: SQL, _ values: [SQLValue] = [], limit: Int = .max, read: (Statement) -> T?
    ) throws(StoreError) -> [T] {
        let statement = try prepared(sql)
        defer { statement.reset() }
        statement.bind(values)
        var results: [T] = []
        while results.count < limit {
            switch statement.step() {
            case SQLITE_ROW:
                let result = read(statement)
                try checkDamage(statement)
                if let result { results.append(result) }
            case SQLITE_DONE: return results
            default: throw failure(sql.text)
            }
        }
        return results
    }

    /// Moves pages of the log into the database. Returns pages in the log and pages moved. Throws `StoreError`.
    func checkpoint(_ mode: CheckpointMode) throws(StoreError) -> (logPages: Int, movedPages: Int) {
        var logged: Int32 = 0
        var moved: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode.code, &logged, &moved)
        guard code == SQLITE_OK else { throw failure("checkpoint") }
        return (Int(logged), Int(moved))
    }

    /// Begins a copy of the database at `path`, an empty file. Throws `StoreError`.
    func beginBackup(to path: String) throws(StoreError) -> BackupCopy { try BackupCopy(of: handle, to: path) }

    private static let integritySQL = SQL("PRAGMA integrity_check(1)")

    /// Checks every page and every row. Throws `StoreError`, kind `damaged` with the first fault that is found.
    func checkWhole() throws(StoreError) {
        let fault = try first(Self.integritySQL, read: { $0.text(0) })
        guard let fault, fault != "ok" else { return }
        throw StoreError(.damaged, operation: "check \(path)", code: SQLITE_CORRUPT, message: fault)
    }

    /// How far a checkpoint goes.
    enum CheckpointMode {
        /// Moves all pages; the log is then written from its beginning again.
        case passive
        /// Also gives the log's room back to the file system.
        case truncate

        fileprivate var code: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }

    private func prepared(_ sql: SQL) throws(StoreError) -> Statement {
        if let id = sql.id, id < statements.count, let statement = statements[id] { return statement }
        var prepared: OpaquePointer?
        let flags = sql.id == nil ? 0 : UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(handle, sql.text, -1, flags, &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw failure(sql.text) }
        let statement = Statement(owning: prepared, sql: sql.text)
        if let id = sql.id {
            while statements.count <= id { statements.append(nil) }
            statements[id] = statement
        }
        return statement
    }

    private func checkDamage(_ statement: Statement) throws(StoreError) {
        guard let damage = statement.damage else { return }
        throw StoreError(
            .damaged, operation: "use \(path)", code: SQLITE_CORRUPT, message: "\(damage); the database is damaged")
    }

    private func failure(_ sql: String) -> StoreError {
        failure(sql, sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)))
    }

    private func failure(_ sql: String, _ code: Int32, _ text: String) -> StoreError {
        let (kind, hint) = Self.meaning(of: code & 0xFF)
        let message = hint.map { "\(text); \($0)" } ?? "\(text) (\(sql))"
        return StoreError(kind, operation: "use \(path)", code: code, message: message)
    }

    private static func meaning(of code: Int32) -> (StoreError.Kind, hint: String?) {
        switch code {
        case SQLITE_FULL: (.full, "free some disk space")
        case SQLITE_NOTADB, SQLITE_CORRUPT: (.damaged, "the database is damaged")
        case SQLITE_BUSY, SQLITE_LOCKED: (.locked, "another process has it open; only one kleosd can own it")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN:
            (.unwritable, "check that the daemon's user may write the folder and the file")
        case SQLITE_IOERR, SQLITE_NOMEM, SQLITE_PROTOCOL: (.io, "look for disk errors in the kernel's log")
        default: (.fault, nil)
        }
    }
}
