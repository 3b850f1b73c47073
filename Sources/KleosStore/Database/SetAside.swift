import Glibc
import KleosSupport

/// Moves a database out of the way, together with the files that belong to it; nothing is ever deleted.
///
/// A database without its log is older than it seems, and a log without its database is deleted by SQLite. So what
/// stands beside the database gets its new name before the database loses its old one.
enum SetAside {
    /// What SQLite puts beside a database.
    static let companions = ["-wal", "-shm", "-journal"]

    /// Renames `path` and what belongs to it to `target`; does nothing where there is nothing. Throws `SystemError`.
    static func move(_ path: String, to target: String) throws(SystemError) {
        let present = companions.filter { exists(path + $0) }
        var linked: [String] = []
        for companion in present {
            if link(path + companion, target + companion) == 0 { linked.append(companion) }
        }
        if rename(path, target) != 0, errno != ENOENT {
            let error = SystemError("rename \(path) to \(target)")
            for companion in linked { unlink(target + companion) }
            throw error
        }
        for companion in present {
            let isMoved =
                linked.contains(companion) ? unlink(path + companion) : rename(path + companion, target + companion)
            guard isMoved == 0 else { throw SystemError("rename \(path + companion) to \(target + companion)") }
        }
        try SmallFile.syncFolder(of: path)
    }

    /// `path`, or the first of `path-2`, `path-3` … at which nothing is yet, nor beside it: what was set aside before
    /// is never overwritten, however the clock stands.
    static func unused(_ path: String) -> String {
        var (candidate, number) = (path, 1)
        while ([""] + companions).contains(where: { exists(candidate + $0) }) {
            number += 1
            candidate = "\(path)-\(number)"
        }
        return candidate
    }

    /// Whether there is something at `path`, a link that leads nowhere included.
    static func exists(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0
    }
}
