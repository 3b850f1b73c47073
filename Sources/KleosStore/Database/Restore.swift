import Glibc
import KleosModel
package import KleosSupport

/// Puts a backup in the place of the database while no daemon runs.
package enum Restore {
    /// What was done.
    package struct Report: Sendable, Equatable {
        /// Where the database now is.
        package var path: String
        /// Where the one that was there before is; nil where there was none.
        package var setAside: String?
    }

    /// Checks a copy of the backup `file`, sets what is in `directory` aside whole, and puts the copy in its place.
    ///
    /// The next start of the daemon holds what may have been delivered after the backup was made, where a second send
    /// counts twice. Throws `StoreError`: `locked` while a daemon owns the database; `damaged`, `foreign` or
    /// `newerSchema` where the backup is no good, and then nothing is changed.
    package static func run(
        _ file: String, into directory: String, clock: any Clock, log: Log
    ) throws(StoreError) -> Report {
        let path = "\(directory)/\(Database.fileName)"
        let stamp = Timestamp.text(milliseconds: clock.read().wallMilliseconds).replacing(":", with: "")
        let owner = try own(path)
        defer { withExtendedLifetime(owner) {} }
        let name = "\(Database.fileName).restoring"
        let copy = "\(directory)/\(name)"
        let removeCopy = { for suffix in [""] + SetAside.companions { unlink(copy + suffix) } }
        // SQLite would bring what a restore that was killed left beside its copy into this one.
        removeCopy()
        defer { removeCopy() }
        do throws(SystemError) {
            for suffix in ["", "-wal"] where suffix.isEmpty || SetAside.exists(file + suffix) {
                try self.copy(file + suffix, to: copy + suffix)
            }
        } catch {
            throw failure("copy \(file)", error)
        }
        try Database(directory: directory, clock: clock, log: log, fileName: name).prepareRestored(stamp: stamp)
        return try exchange(path, for: copy, setAside: SetAside.unused("\(path).replaced-\(stamp)"))
    }

    /// Takes the lock that SQLite takes for writing, so that no daemon can begin to use the database meanwhile.
    private static func own(_ path: String) throws(StoreError) -> FileDescriptor? {
        guard SetAside.exists(path) else { return nil }
        let file: FileDescriptor
        do throws(SystemError) {
            file = try FileDescriptor.open(path, O_RDWR | O_NOFOLLOW)
        } catch {
            throw StoreError(.unwritable, operation: "restore \(path)", code: error.code, message: error.description)
        }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        // SQLite's lock bytes: pending, reserved and 510 shared ones, where no page is ever kept.
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        guard fcntl(file.number, F_SETLK, &lock) == 0 else {
            throw StoreError(
                .locked, operation: "restore \(path)", code: errno,
                message: "a kleosd is using it; stop that first, together with its sockets")
        }
        return file
    }

    private static func copy(_ source: String, to target: String) throws(SystemError) {
        let input = try FileDescriptor.open(source, O_RDONLY)
        let output = try FileDescriptor.open(target, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        while true {
            let bytes = try input.read(limitBytes: 1 << 20)
            if bytes.isEmpty { break }
            try output.writeAll(bytes)
        }
        guard fsync(output.number) == 0 else { throw SystemError("sync \(target)") }
    }

    private static func exchange(
        _ path: String, for copy: String, setAside target: String
    ) throws(StoreError) -> Report {
        let hadOne = SetAside.exists(path) || SetAside.companions.contains { SetAside.exists(path + $0) }
        do throws(SystemError) {
            let file = try FileDescriptor.open(copy, O_RDONLY | O_NOFOLLOW)
            guard fsync(file.number) == 0 else { throw SystemError("sync \(copy)") }
            if hadOne { try SetAside.move(path, to: target) }
            // Fails, as rename would not, where a daemon that was started just now has made a new database.
            guard link(copy, path) == 0 else { throw SystemError("put \(copy) in the place of \(path)") }
            try SmallFile.syncFolder(of: path)
        } catch {
            throw failure("put the backup in place; what was there is whole at \(target)", error)
        }
        return Report(path: path, setAside: hadOne ? target : nil)
    }

    private static func failure(_ operation: String, _ error: SystemError) -> StoreError {
        StoreError(
            error.code == ENOSPC ? .full : .unwritable, operation: operation, code: error.code,
            message: error.description)
    }
}

extension Database {
    /// Opens a copy of a backup, makes sure that it is a whole outbox of this or an earlier version, and notes down
    /// that it was restored. Throws `StoreError`.
    func prepareRestored(stamp: String) throws(StoreError) {
        try checkHeader()
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        let application = Int32(truncatingIfNeeded: try connection.integer(.once("PRAGMA application_id")) ?? 0)
        let version = Int32(truncatingIfNeeded: try connection.integer(.once("PRAGMA user_version")) ?? 0)
        try check(applicationID: application, version: version)
        guard application == Schema.applicationID else {
            throw StoreError(.foreign, operation: "restore \(path)", message: "the file is no outbox of kleos")
        }
        try connection.checkWhole()
        try connection.setMeta(.restored, stamp)
        try connection.execute("PRAGMA journal_mode = DELETE")
    }
}
