import Glibc
import KleosSupport

/// The folder of a practice run's daemon.
final class PracticeFolder {
    let path: String
    private let isKept: Bool

    /// Makes a folder of its own, or takes the new or empty one at `kept`. Throws a failure.
    init(keeping kept: String?) throws(CommandFailure) {
        do throws(SystemError) {
            if let kept {
                try Folder.make(kept)
                guard try Folder.names(in: kept).isEmpty else {
                    throw SystemError("use \(kept), which has files in it", code: ENOTEMPTY)
                }
                path = try Self.absolute(kept)
            } else {
                path = try Self.temporary()
            }
        } catch {
            throw CommandFailure(.system, error.description)
        }
        isKept = kept != nil
        guard "\(path)/control.sock".utf8.count <= UnixSocket.maximumPathBytes else {
            throw .usage("the path \(path) is too long for a socket in it", hint: "use a folder with a shorter path")
        }
    }

    private static func temporary() throws(SystemError) -> String {
        let wanted = Environment["TMPDIR"] ?? "/tmp"
        // Sockets have short paths.
        let parent = wanted.utf8.count > 60 ? "/tmp" : wanted
        // Sound: a copy of its own, which mkdtemp changes in place at the same length, and which is freed below.
        guard let template = strdup("\(parent)/kleos-practice.XXXXXX") else { throw SystemError("make a name") }
        defer { free(template) }
        guard mkdtemp(template) != nil else { throw SystemError("make a folder in \(parent)") }
        return String(cString: template)
    }

    private static func absolute(_ path: String) throws(SystemError) -> String {
        guard let resolved = realpath(path, nil) else { throw SystemError("find \(path)") }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Writes a file, its folder included. Throws a failure.
    func write(_ name: String, _ bytes: [UInt8]) throws(CommandFailure) {
        let file = "\(path)/\(name)"
        do throws(SystemError) {
            if let slash = file.lastIndex(of: "/") { try Folder.make(String(file[..<slash])) }
            let descriptor = try FileDescriptor.open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)
            try descriptor.writeAll(bytes)
        } catch {
            throw CommandFailure(.system, error.description)
        }
    }

    /// Removes it with all that is in it, unless it is to be kept.
    func remove() {
        if !isKept { Self.remove(path) }
    }

    private static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        // What cannot be listed cannot be removed either, which the user finds in the temporary folder.
        for name in (try? Folder.names(in: path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
