package import Glibc

/// Whole-file reads and durable whole-file writes of small files.
package enum SmallFile {
    /// Reads all of `path`, at most `limitBytes`. Throws `SystemError`; EFBIG where the file is larger.
    package static func read(at path: String, limitBytes: Int = 1 << 20) throws(SystemError) -> [UInt8] {
        try read(from: FileDescriptor.open(path, O_RDONLY), path: path, limitBytes: limitBytes)
    }

    /// Reads all that `descriptor` holds, at most `limitBytes`; `path` names it in errors. Throws `SystemError`.
    package static func read(
        from descriptor: FileDescriptor, path: String, limitBytes: Int
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let chunk = try descriptor.read(limitBytes: 65_536)
            if chunk.isEmpty { return bytes }
            bytes += chunk
            guard bytes.count <= limitBytes else { throw SystemError("read \(path)", code: EFBIG) }
        }
    }

    /// Reads `path` as UTF-8 text; invalid bytes become U+FFFD. Throws `SystemError`.
    package static func readText(at path: String, limitBytes: Int = 1 << 20) throws(SystemError) -> String {
        String(decoding: try read(at: path, limitBytes: limitBytes), as: UTF8.self)
    }

    /// Replaces `path` by a file with `bytes`: written beside it, synced, renamed, the folder synced. Not for two
    /// threads at once with one path. Throws `SystemError`; then the old file is untouched, unless only the last sync
    /// failed.
    package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o600) throws(SystemError) {
        let temporary = "\(path).\(getpid()).new"
        do throws(SystemError) {
            let file = try FileDescriptor.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: mode)
            try file.writeAll(bytes, path: temporary)
            guard fsync(file.number) == 0 else { throw SystemError("sync \(temporary)") }
            guard rename(temporary, path) == 0 else { throw SystemError("rename \(temporary) to \(path)") }
        } catch {
            unlink(temporary)
            throw error
        }
        try syncFolder(of: path)
    }

    /// Makes a rename or unlink in the folder of `path` durable. Throws `SystemError`.
    package static func syncFolder(of path: String) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
        guard fsync(descriptor.number) == 0 else { throw SystemError("sync \(folder)") }
    }
}
