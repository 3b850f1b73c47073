import CLinux
import Glibc
import KleosModel
import KleosSupport

/// Opening of the database: what may be opened, what is set aside, and the way to the present schema.
struct Database {
    static let fileName = "outbox.db"
    static let pageBytes: Int64 = 4_096

    let directory: String
    var sqliteFileSystem: String?
    let clock: any Clock
    let log: Log
    var naming = FileNaming.system
    var fileName = Database.fileName
    /// What a new database masks its keys with; nil makes it up.
    var secret: String?

    var path: String { "\(directory)/\(fileName)" }
    /// Is there when the database turned out to be damaged while it was in use.
    private var suspicion: DamageMark { DamageMark(directory: directory) }

    /// Opens the database, or makes a new one where there is none or the old one cannot be opened. A database that
    /// turned out to be damaged while it was in use is checked whole first. Throws `StoreError`.
    func open() throws(StoreError) -> Connection {
        try checkFolder()
        try keepOrphanedLog()
        do throws(StoreError) {
            try checkHeader()
            return try openChecked()
        } catch  where error.kind == .damaged {
            try setAside(because: error)
            return try openChecked()
        }
    }

    /// SQLite deletes a log that it finds without its database.
    private func keepOrphanedLog() throws(StoreError) {
        guard !SetAside.exists(path), SetAside.exists("\(path)-wal") else { return }
        try setAside(
            because: StoreError(
                .damaged, operation: "open \(path)", message: "the database is missing and its log is there"))
    }

    private func checkFolder() throws(StoreError) {
        var information = stat()
        guard stat(directory, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else {
            throw StoreError(
                .unwritable, operation: "open the outbox in \(directory)", code: errno,
                message: "there is no such folder; make it, owned by the daemon's user")
        }
        guard access(directory, W_OK | X_OK) == 0 else {
            throw StoreError(
                .unwritable, operation: "open the outbox in \(directory)", code: errno,
                message: "\(String(cString: strerror(errno))); make the folder writable for the daemon's user")
        }
        var system = statfs()
        guard statfs(directory, &system) == 0 else { return }
        switch FileSystemKind(magic: UInt32(truncatingIfNeeded: system.f_type)) {
        case .local: break
        case .userSpace:
            log(.warning, "the outbox is on a FUSE file system; it must be a local one", ["folder": directory])
        case .network(let name):
            throw StoreError(
                .networkFileSystem, operation: "open the outbox in \(directory)",
                message: "it is on \(name), where SQLite's locks and syncs cannot be relied on; use a local disk")
        }
    }

    /// Looks at the file before SQLite does, because opening a file already writes beside it.
    func checkHeader() throws(StoreError) {
        let header: [UInt8]
        do throws(SystemError) {
            // A link leads out of the folder, and a pipe would hold up the start for ever.
            let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            var status = stat()
            guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw SystemError("read \(path)", code: EINVAL)
            }
            header = try file.read(limitBytes: 100)
        } catch  where error.code == ENOENT {
            return
        } catch {
            throw StoreError(
                .unwritable, operation: "open \(path)", code: error.code,
                message: "\(String(cString: strerror(error.code))); it must be a regular file of the daemon's user")
        }
        if header.isEmpty { return }
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            // A power cut may leave a page to be repaired from what is beside it; SQLite finds out.
            if hasLog { return }
            throw StoreError(.damaged, operation: "open \(path)", message: "it is not a database")
        }
        func number(_ offset: Int) -> Int32 {
            Int32(bitPattern: header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        try check(applicationID: number(68), version: number(60))
    }

    private var hasLog: Bool {
        ["-journal", "-wal"].contains { suffix in
            var information = stat()
            return stat("\(path)\(suffix)", &information) == 0 && information.st_size > 0
        }
    }

    func check(applicationID: Int32, version: Int32) throws(StoreError) {
        if applicationID == 0, version == 0 { return }
        guard applicationID == Schema.applicationID else {
            throw StoreError(
                .foreign, operation: "open \(path)",
                message: "it belongs to another program; move it away or choose another folder")
        }
        guard version >= Schema.firstVersion else {
            throw StoreError(
                .olderSchema, operation: "open \(path)",
                message: "its schema has version \(version), which this kleosd does not read; it was left as it is; "
                    + "export what it holds with the kleosd that wrote it (kleos export), move it away, and import that "
                    + "here (kleos import)")
        }
        guard version <= Schema.version else {
            throw StoreError(
                .newerSchema, operation: "open \(path)",
                message: "its schema has version \(version) and this kleosd knows \(Schema.version); it was left as it "
                    + "is; install the kleosd that wrote it, or a later one")
        }
    }

    private func openChecked() throws(StoreError) -> Connection {
        let connection = try Connection(path: path, fileSystem: sqliteFileSystem)
        // Until the versions are known, nothing that the file holds is changed.
        connection.keepLogOnClose()
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        let version = Int32(truncatingIfNeeded: try connection.integer(.once("PRAGMA user_version")) ?? 0)
        let application = Int32(truncatingIfNeeded: try connection.integer(.once("PRAGMA application_id")) ?? 0)
        try check(applicationID: application, version: version)
        if application == 0, try connection.integer(.once("SELECT count(*) FROM sqlite_schema")) ?? 0 > 0 {
            throw StoreError(
                .foreign, operation: "open \(path)",
                message: "it belongs to another program; move it away or choose another folder")
        }
        // What cannot be read back from the disk after a power cut must not be built upon.
        try connection.rewriteLog()
        try configure(connection)
        try migrate(connection, from: Int(version))
        try checkIfSuspected(connection)
        // Reading a row shows whether the schema is whole.
        _ = try connection.integer(.once("SELECT count(*) FROM meta"))
        return connection
    }

    private func configure(_ connection: Connection) throws(StoreError) {
        try connection.execute("PRAGMA page_size = \(Self.pageBytes)")
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        try connection.execute("PRAGMA journal_size_limit = \(16 << 20)")
        try connection.execute("PRAGMA cache_size = -1536")
        try connection.execute("PRAGMA mmap_size = 0")
        try connection.execute("PRAGMA temp_store = MEMORY")
        try connection.execute("PRAGMA trusted_schema = OFF")
        // What an operator erases is overwritten.
        try connection.execute("PRAGMA secure_delete = ON")
        // A damaged page is told as such, in place of rows that are not found.
        try connection.execute("PRAGMA cell_size_check = ON")
    }

    private func migrate(_ connection: Connection, from version: Int) throws(StoreError) {
        // An empty write takes the lock, so that a second daemon finds out now.
        try connection.execute("BEGIN IMMEDIATE")
        guard version < Schema.version else { return try connection.execute("COMMIT") }
        for step in Schema.steps[max(0, version - Schema.firstVersion + 1)...] {
            for statement in step { try connection.execute(statement) }
        }
        if version == 0 { try connection.setMeta(.secret, newSecret().text) }
        try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
        try connection.execute("PRAGMA user_version = \(Schema.version)")
        try connection.execute("COMMIT")
        // The version is in the file itself from here on, where an older program sees it before it opens the file.
        _ = try connection.checkpoint(.truncate)
        log(.notice, "the outbox has a new schema", ["path": path, "version": "\(Schema.version)"])
    }

    private func newSecret() -> StoreSecret {
        var random = SystemRandomNumberGenerator()
        return secret.flatMap(StoreSecret.init) ?? StoreSecret(random.next(), random.next())
    }

    private func checkIfSuspected(_ connection: Connection) throws(StoreError) {
        guard let reason = suspicion.reason else { return }
        log(.warning, "the outbox is checked whole, because it seemed to be damaged", ["path": path, "error": reason])
        try connection.checkWhole()
        suspicion.remove()
        log(.notice, "the outbox is whole after all", ["path": path])
    }

    /// Moves the database out of the way, with everything that belongs to it. Throws `StoreError`.
    func setAside(because error: StoreError) throws(StoreError) {
        let stamp = Timestamp.text(milliseconds: clock.read().wallMilliseconds).replacing(":", with: "")
        let target = SetAside.unused("\(path).damaged-\(stamp)")
        for suffix in SetAside.companions { try move(suffix, to: target) }
        // In this order on the disk, too: SQLite would delete a log that is left without its database.
        try syncFolder()
        try move("", to: target)
        try syncFolder()
        suspicion.remove()
        log(
            .error,
            "the outbox is damaged; it was set aside whole, and a new one begins (kleos salvage brings over what can be read)",
            ["path": target, "error": error.message])
    }

    private func move(_ suffix: String, to target: String) throws(StoreError) {
        guard naming.rename("\(path)\(suffix)", "\(target)\(suffix)") != 0, errno != ENOENT else { return }
        throw StoreError(
            .unwritable, operation: "set \(path)\(suffix) aside", code: errno,
            message: "\(String(cString: strerror(errno))); move the damaged database away by hand")
    }

    private func syncFolder() throws(StoreError) {
        guard naming.syncFolder(directory) != 0 else { return }
        throw StoreError(
            .io, operation: "sync \(directory)", code: errno,
            message: "\(String(cString: strerror(errno))); look for disk errors in the kernel's log")
    }
}

/// What a file system is to SQLite.
enum FileSystemKind: Equatable {
    case local
    case network(String)
    /// FUSE: local or not, the kernel does not say.
    case userSpace

    /// Reads the type that statfs gives.
    init(magic: UInt32) {
        switch magic {
        case 0x6969: self = .network("NFS")
        case 0x517B: self = .network("SMB")
        case 0xFE53_4D42: self = .network("SMB2")
        case 0xFF53_4D42: self = .network("CIFS")
        case 0x0102_1997: self = .network("9P")
        case 0x00C3_6400: self = .network("Ceph")
        case 0x5346_414F, 0x6B41_4653: self = .network("AFS")
        case 0x7375_7245: self = .network("Coda")
        case 0x564C: self = .network("NCP")
        case 0x6573_5546: self = .userSpace
        default: self = .local
        }
    }
}
