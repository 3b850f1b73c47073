import Glibc

/// How files are renamed and names made durable; a test's disk has its own way.
struct FileNaming: Sendable {
    /// As rename(2): 0, or -1 with errno.
    var rename: @Sendable (_ from: String, _ to: String) -> Int32
    /// As fsync(2) of a folder: 0, or -1 with errno.
    var syncFolder: @Sendable (_ folder: String) -> Int32

    /// The system's own.
    static let system = FileNaming(
        rename: { Glibc.rename($0, $1) },
        syncFolder: { folder in
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { return -1 }
            let result = fsync(descriptor)
            let code = errno
            close(descriptor)
            errno = code
            return result
        })
}
