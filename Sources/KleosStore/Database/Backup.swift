import Dispatch
import Glibc
import KleosModel
import KleosSupport

/// A backup that was made.
package struct BackupReport: Sendable, Equatable {
    package var path: String
    package var bytes: Int64
    /// Paths of older ones that were removed for it.
    package var removed: [String]
}

/// A backup in the making.
struct RunningBackup {
    var copy: BackupCopy?
    let path: String
    let tellProgress: @Sendable (_ done: Int, _ total: Int) -> Void
    let completion: @Sendable (Result<BackupReport, StoreError>) -> Void

    /// Ends the copying, before the database is closed.
    mutating func abandon() { copy = nil }
}

extension Store {
    /// The folder of backups, in the daemon's own.
    static let backupFolder = "backups"
    /// About a millisecond's worth of pages, so that nobody waits long for a turn.
    private static let backupPagesPerTurn = 256

    /// Copies the database into a file of its own in the folder `backups`, some pages a turn, checks the copy whole,
    /// and calls `completion` with its place. `progress` is told pages done and pages in all. Fails with kind `full`
    /// where there is no room, and with `busy` while another backup is being made.
    package nonisolated func backUp(
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void,
        then completion: @escaping @Sendable (Result<BackupReport, StoreError>) -> Void
    ) {
        async { store in
            do throws(StoreError) {
                try store.beginBackup(progress, completion)
                store.async { $0.continueBackup() }
            } catch {
                completion(.failure(error))
            }
        }
    }

    private func beginBackup(
        _ progress: @escaping @Sendable (Int, Int) -> Void,
        _ completion: @escaping @Sendable (Result<BackupReport, StoreError>) -> Void
    ) throws(StoreError) {
        guard let outbox else {
            throw StoreError(.closed, operation: "make a backup", message: "the daemon is stopping")
        }
        guard backup == nil, !isBackupChecked else {
            throw StoreError(.busy, operation: "make a backup", message: "one is being made; try again when it is done")
        }
        let bytes = (try outbox.database.integer(.once("PRAGMA page_count")) ?? 0) * Database.pageBytes
        try outbox.space.checkRoom(forBackup: bytes)
        let path = try BackupFile.begin(in: outbox.space.backupFolder, wallMilliseconds: clock.read().wallMilliseconds)
        backup = RunningBackup(
            copy: try outbox.database.beginBackup(to: "\(path)\(BackupFile.unfinished)"), path: path,
            tellProgress: progress, completion: completion)
    }

    private func continueBackup() {
        guard let running = backup else { return }
        do throws(StoreError) {
            guard let outbox, let copy = running.copy, failure == nil else {
                throw StoreError(.closed, operation: "make a backup", message: "the daemon is stopping")
            }
            try outbox.space.checkRoom(forBackup: 0)
            let hasMore = try copy.step(pages: Self.backupPagesPerTurn)
            let progress = copy.progress
            running.tellProgress(progress.done, progress.total)
            if hasMore { return async { $0.continueBackup() } }
            backup = nil
            check(running, keeping: outbox.options.keptBackups)
        } catch {
            backup = nil
            unlink("\(running.path)\(BackupFile.unfinished)")
            running.completion(.failure(error))
        }
    }

    /// Checking reads all of the copy, which is nothing for the queue that everybody waits for.
    private func check(_ running: RunningBackup, keeping count: Int) {
        isBackupChecked = true
        let (path, completion) = (running.path, running.completion)
        DispatchQueue.global(qos: .utility).async { [self] in
            let result: Result<BackupReport, StoreError>
            do throws(StoreError) {
                result = .success(try BackupFile.finish(path, keeping: count))
            } catch {
                unlink("\(path)\(BackupFile.unfinished)")
                result = .failure(error)
            }
            async { store in
                store.isBackupChecked = false
                completion(result)
            }
        }
    }
}

/// The file of a backup: made under another name, checked, synced, and renamed.
enum BackupFile {
    /// What its name ends in until it is whole.
    static let unfinished = ".part"

    /// Makes the folder and an empty file for a backup; what earlier ones left unfinished goes. Returns the path that
    /// the backup will have. Throws `StoreError`.
    static func begin(in folder: String, wallMilliseconds: Int64) throws(StoreError) -> String {
        let stamp = Timestamp.text(milliseconds: wallMilliseconds).replacing(":", with: "")
        let path = "\(folder)/outbox-\(stamp).db"
        do throws(SystemError) {
            try Folder.make(folder)
            for name in try Folder.names(in: folder) where name.contains(unfinished) { unlink("\(folder)/\(name)") }
            _ = try FileDescriptor.open("\(path)\(unfinished)", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw failure(path, error)
        }
        return path
    }

    /// Makes the copy a database that needs nothing beside it, checks it whole, and gives it its name. Of all backups
    /// this one and the newest others stay, `count` in all. Throws `StoreError`, kind `damaged` where the check finds a
    /// fault.
    static func finish(_ path: String, keeping count: Int) throws(StoreError) -> BackupReport {
        try close(path + unfinished)
        do throws(SystemError) {
            let file = try FileDescriptor.open(path + unfinished, O_RDONLY | O_NOFOLLOW)
            guard fsync(file.number) == 0 else { throw SystemError("sync \(path)\(unfinished)") }
            var information = stat()
            guard fstat(file.number, &information) == 0 else { throw SystemError("look at \(path)") }
            guard rename(path + unfinished, path) == 0 else { throw SystemError("rename \(path)\(unfinished)") }
            let removed = try prune(path, keeping: count)
            try SmallFile.syncFolder(of: path)
            return BackupReport(path: path, bytes: Int64(information.st_size), removed: removed)
        } catch {
            throw failure(path, error)
        }
    }

    private static func close(_ path: String) throws(StoreError) {
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try connection.execute("PRAGMA journal_mode = DELETE")
        try connection.checkWhole()
    }

    private static func prune(_ path: String, keeping count: Int) throws(SystemError) -> [String] {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let paths = try Folder.names(in: folder).filter { $0.hasPrefix("outbox-") && $0.hasSuffix(".db") }
            .map { "\(folder)/\($0)" }
        // By its name the new one is not the newest where the clock is behind.
        let old = paths.filter { $0 != path }.dropLast(max(1, count) - 1)
        for path in old { unlink(path) }
        return Array(old)
    }

    private static func failure(_ path: String, _ error: SystemError) -> StoreError {
        StoreError(
            error.code == ENOSPC ? .full : .backupFailed, operation: "write the backup \(path)", code: error.code,
            message: error.description)
    }
}
