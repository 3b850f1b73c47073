import Glibc
import KleosSupport

/// A file beside the database that says that it seemed to be damaged while it was in use; the next start then checks it
/// whole before it trusts it again.
struct DamageMark {
    let directory: String

    private var path: String { "\(directory)/outbox.suspect" }

    /// What was seen; nil where nothing was.
    var reason: String? {
        guard SetAside.exists(path) else { return nil }
        do throws(SystemError) {
            return try SmallFile.readText(at: path)
        } catch {
            return error.description
        }
    }

    /// Notes down what was seen. Throws `SystemError`.
    func set(_ reason: String) throws(SystemError) {
        try SmallFile.replace(path, with: Array(reason.utf8))
    }

    /// Forgets it; one that stays costs a check at the next start.
    func remove() { unlink(path) }
}

/// Which file a path leads to.
struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// Looks at `path`; nil where there is no file.
    init?(path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else { return nil }
        device = UInt64(information.st_dev)
        inode = UInt64(information.st_ino)
    }
}
