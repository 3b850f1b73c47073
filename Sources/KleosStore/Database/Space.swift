import Glibc
import KleosSupport

/// The room on disk: cap, floor, and the reserve that is given up when there is none left.
final class Space {
    private let directory: String
    private let options: StoreOptions
    private let log: Log
    private var refusal: String?
    private var isChecked = false
    /// Whether the database itself has reached its limit.
    private(set) var isOverLimit = false
    /// What the file system said last, and how many transactions ago.
    private var knownFreeBytes: Int64?
    private var transactionsSince = 0
    /// How many transactions go by until the file system is asked again; each writes at most a few MiB.
    private static let transactionsPerQuestion = 64
    /// The database's file as it was opened; nil until then.
    private var identity: FileIdentity?

    init(directory: String, options: StoreOptions, log: Log) {
        self.directory = directory
        self.options = options
        self.log = log
    }

    /// The database's path.
    var databasePath: String { "\(directory)/\(Database.fileName)" }

    /// The reserve's path.
    var reservePath: String { "\(directory)/outbox.reserve" }

    /// The question whether there is room is asked again, once in the transaction that begins.
    func startTransaction() {
        isChecked = false
        transactionsSince += 1
        let isTight = (knownFreeBytes ?? 0) < 4 * options.freeFloorBytes + (1 << 30)
        if isTight || transactionsSince >= Self.transactionsPerQuestion { knownFreeBytes = nil }
    }

    /// Why new events are refused now; nil where there is room. `usedBytes` is asked only where it matters.
    func reasonToRefuse(
        usedBytes: () throws(StoreError) -> Int64
    ) throws(StoreError) -> String? {
        if isChecked { return refusal }
        try checkIdentity()
        let used = try usedBytes()
        isOverLimit = used >= options.maximumBytes
        refusal = Self.reasonToRefuse(
            usedBytes: used, limitBytes: options.maximumBytes, freeBytes: freeBytes(),
            floorBytes: options.freeFloorBytes)
        isChecked = true
        return refusal
    }

    /// Remembers which file the database is.
    func rememberIdentity() { identity = FileIdentity(path: databasePath) }

    /// SQLite goes on writing to a file that nobody can find any more.
    private func checkIdentity() throws(StoreError) {
        guard let identity, FileIdentity(path: databasePath) != identity else { return }
        throw StoreError(
            .removed, operation: "use \(databasePath)",
            message: "it was moved away or removed while kleosd was using it; put it back, together with its -wal file")
    }

    /// Where backups go.
    var backupFolder: String { "\(directory)/\(Store.backupFolder)" }

    /// Throws kind `full` unless `bytes` fit above the floor.
    func checkRoom(forBackup bytes: Int64) throws(StoreError) {
        let free = askFreeBytes()
        guard free < bytes + options.freeFloorBytes else { return }
        throw StoreError(
            .full, operation: "make a backup",
            message: "it needs \(bytes) bytes above the floor of \(options.freeFloorBytes), and the disk has \(free) "
                + "free; free some disk space")
    }

    /// Marks the database for a check at the next start.
    func suspect(_ error: StoreError) {
        releaseReserve()
        do throws(SystemError) {
            try DamageMark(directory: directory).set(error.message)
            log(.error, "the outbox will be checked whole at the next start", ["path": databasePath])
        } catch {
            log(
                .error, "the damage cannot be noted down for the next start; move the outbox away by hand",
                ["path": databasePath, "error": "\(error)"])
        }
    }

    /// Refuses new events for the rest of this transaction, because the disk turned out to be full.
    func refuseForNow(_ reason: String) {
        isOverLimit = false
        knownFreeBytes = nil
        refusal = reason
        isChecked = true
    }

    /// The rule: cap first, then floor.
    static func reasonToRefuse(usedBytes: Int64, limitBytes: Int64, freeBytes: Int64, floorBytes: Int64) -> String? {
        if usedBytes >= limitBytes {
            return "the outbox uses \(usedBytes) of the \(limitBytes) bytes that MaximumSize= allows"
        }
        if freeBytes < floorBytes {
            return "the disk has \(freeBytes) bytes free, less than the \(floorBytes) that KeepFree= keeps free"
        }
        return nil
    }

    /// Bytes free on the file system for this user; the greatest number where the system does not say.
    func freeBytes() -> Int64 {
        if let knownFreeBytes { return knownFreeBytes }
        let free = askFreeBytes()
        knownFreeBytes = free
        transactionsSince = 0
        return free
    }

    /// Asks the file system itself, however long ago that was done.
    func askFreeBytes() -> Int64 {
        var information = statvfs()
        guard statvfs(directory, &information) == 0 else { return .max }
        let (bytes, overflowed) = Int64(information.f_bavail).multipliedReportingOverflow(
            by: Int64(information.f_frsize))
        return overflowed ? .max : bytes
    }

    /// Gives the reserve's room back to the file system. Returns whether there was one.
    @discardableResult
    func releaseReserve() -> Bool {
        unlink(reservePath) == 0
    }

    /// Makes the reserve where it is missing and there is room for it above the floor. Returns whether nothing is left
    /// to be done about it.
    func makeReserve() -> Bool {
        if options.reserveBytes <= 0 || access(reservePath, F_OK) == 0 { return true }
        guard askFreeBytes() - options.freeFloorBytes >= 2 * options.reserveBytes else { return false }
        do throws(SystemError) {
            let file = try FileDescriptor.open(reservePath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            let code = posix_fallocate(file.number, 0, off_t(options.reserveBytes))
            guard code == 0 else {
                unlink(reservePath)
                throw SystemError("reserve \(options.reserveBytes) bytes at \(reservePath)", code: code)
            }
        } catch {
            log(.warning, "no room is kept in reserve", ["error": "\(error)"])
        }
        return true
    }
}
