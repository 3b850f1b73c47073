import Glibc
package import KleosSupport

/// A folder of its own for a test, removed with everything in it when the last reference goes.
///
/// What may still write into it is ended first: a program that a test started, a client that spools as it closes.
package final class TemporaryFolder: Sendable {
    /// The folder's absolute path.
    package let path: String

    /// Makes a folder that only this user can read. Throws `SystemError`.
    package init(prefix: String = "kleos") throws(SystemError) {
        let base = Environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(base)/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a temporary folder in \(base)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.remove(path)
    }

    /// The path of `name` in the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Removes `path` and everything below it; what cannot be removed stays.
    package static func remove(_ path: String) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        // Whoever is ending may have put a file there meanwhile.
        for _ in 0..<attempts {
            // A folder that cannot be listed cannot be emptied either; rmdir below then leaves it.
            for name in (try? Folder.names(in: path)) ?? [] { remove("\(path)/\(name)") }
            if rmdir(path) == 0 || errno != ENOTEMPTY { return }
        }
    }

    private static let attempts = 50
}
