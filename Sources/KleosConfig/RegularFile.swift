import Glibc
import KleosSupport

/// Reads files that an administrator names, without being held up by what is no file.
enum RegularFile {
    /// The file's bytes, owner and permission bits. Throws `SystemError`; EINVAL for a folder, a device or a pipe.
    static func read(
        _ path: String, limitBytes: Int
    ) throws(SystemError) -> (bytes: [UInt8], owner: uid_t, mode: mode_t) {
        let descriptor = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw SystemError("look at \(path)") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError("read \(path), which is no regular file", code: EINVAL)
        }
        let bytes = try SmallFile.read(from: descriptor, path: path, limitBytes: limitBytes)
        return (bytes, status.st_uid, status.st_mode & 0o7777)
    }
}

/// Paths in settings.
enum FilePath {
    /// `path` itself where it is absolute, else `path` in the folder of `file`.
    static func resolve(_ path: String, besideFile file: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let slash = file.lastIndex(of: "/") else { return path }
        return "\(file[...slash])\(path)"
    }
}
