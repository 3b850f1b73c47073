import Glibc
import KleosSupport

/// The folder in which everything of a run lies.
enum BenchFolder {
    /// Makes a new folder in `parent`, which only this user enters. Throws `SystemError`.
    static func make(in parent: String) throws(SystemError) -> String {
        // A copy of its own, since mkdtemp writes the name that it chose over the six X's.
        var name = Array("\(parent)/kleos-bench.XXXXXX".utf8CString)
        // Sound: mkdtemp changes the X's and nothing else, and the text ends with its zero.
        let isMade = name.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } != nil }
        guard isMade else { throw SystemError("make a folder in \(parent)") }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes `path` and what is in it; links are not followed. What cannot be removed stays.
    static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        for name in (try? Folder.names(in: path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
