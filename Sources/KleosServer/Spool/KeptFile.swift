import Glibc
import KleosSupport

/// A file that others own, in a folder that the daemon owns: opened without following anything, and erased.
enum KeptFile {
    /// Opens a regular file for reading or writing; nil where that is not allowed, or it is something else.
    static func open(_ name: [CChar], _ mode: Int32, in folder: FileDescriptor) -> FileDescriptor? {
        let flags = mode | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let number = Retry.onInterrupt { openat(folder.number, name, flags) }
        guard number >= 0 else { return nil }
        let file = FileDescriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return file
    }

    /// Overwrites a file where the daemon may, and removes it; `path` names it in errors. A file of another user is
    /// removed only, and so is one that has a second name, under which it is that user's own. Throws `SystemError`;
    /// where only the overwriting failed, it is gone all the same.
    static func erase(_ name: [CChar], in folder: FileDescriptor, path: String) throws(SystemError) {
        let file = open(name, O_WRONLY, in: folder)
        guard unlinkat(folder.number, name, 0) == 0 || errno == ENOENT else { throw SystemError("remove \(path)") }
        if let file { try overwrite(file, path: path) }
    }

    /// Puts `rest` in the place of a file, with the same owner and mode, and overwrites what was there. Throws
    /// `SystemError`; then the old file stays, unless only the overwriting failed.
    static func replace(
        _ name: [CChar], with rest: [UInt8], in folder: FileDescriptor, path: String
    ) throws(SystemError) {
        guard let old = open(name, O_WRONLY, in: folder) else { throw SystemError("change \(path)", code: EACCES) }
        var status = stat()
        guard fstat(old.number, &status) == 0 else { throw SystemError("look at \(path)") }
        let draft = [CChar(bitPattern: UInt8(ascii: "."))] + name
        do throws(SystemError) {
            try write(rest, to: draft, like: status, in: folder, path: path)
            guard renameat(folder.number, draft, folder.number, name) == 0 else { throw SystemError("change \(path)") }
        } catch {
            unlinkat(folder.number, draft, 0)
            throw error
        }
        guard fsync(folder.number) == 0 else { throw SystemError("sync the folder of \(path)") }
        try overwrite(old, path: path)
    }

    private static func write(
        _ bytes: [UInt8], to draft: [CChar], like status: stat, in folder: FileDescriptor, path: String
    ) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
        let number = Retry.onInterrupt { openat(folder.number, draft, flags, mode_t(0o600)) }
        guard number >= 0 else { throw SystemError("write beside \(path)") }
        let file = FileDescriptor(owning: number)
        try file.writeAll(bytes, path: path)
        guard fchown(number, status.st_uid, status.st_gid) == 0, fchmod(number, status.st_mode & 0o777) == 0,
            fsync(number) == 0
        else { throw SystemError("write beside \(path)") }
    }

    /// Overwrites all of a file that has no name left.
    private static func overwrite(_ file: FileDescriptor, path: String) throws(SystemError) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw SystemError("look at \(path)") }
        guard status.st_nlink == 0 else { return }
        try file.writeAll([UInt8](repeating: 0, count: Int(status.st_size)), path: path)
        guard fsync(file.number) == 0 else { throw SystemError("overwrite \(path)") }
    }
}
