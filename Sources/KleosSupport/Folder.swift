package import Glibc

/// Listing and making of folders.
package enum Folder {
    /// The names in `path` in byte order, without "." and "..". Throws `SystemError`.
    package static func names(in path: String) throws(SystemError) -> [String] {
        guard let handle = opendir(path) else { throw SystemError("list \(path)") }
        defer { closedir(handle) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(handle) else {
                guard errno == 0 else { throw SystemError("list \(path)") }
                break
            }
            // Sound: d_name ends with a zero byte within its 256, and is copied before the next readdir.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The folder of the running program, links followed; nil where /proc does not say.
    package static var ofThisProgram: String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // Sound: bytes are characters to C; readlink writes no more than the count, and only what it wrote is read.
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink("/proc/self/exe", $0, text.count) } ?? -1
            }
        }
        guard count > 0, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: buffer[..<slash], as: UTF8.self)
    }

    /// Whether `path` is a folder, links followed.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Why another user than `uid` and root, or everybody, could change what lies in the folder `path`; nil where that
    /// is not so. A group that may write there is its owner's choice. Throws `SystemError`.
    package static func weakness(of path: String, uid: UInt32) throws(SystemError) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemError("look at \(path)") }
        if status.st_uid != uid, status.st_uid != 0 { return "it belongs to user \(status.st_uid)" }
        return status.st_mode & S_IWOTH != 0 ? "everybody may write there" : nil
    }

    /// Makes `path` and the folders above it that are missing, each with `mode`. Throws `SystemError`, EEXIST where
    /// something else is in its place.
    package static func make(_ path: String, mode: mode_t = 0o700) throws(SystemError) {
        guard let code = failure(making: path, mode) else { return }
        guard code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError("make folder \(path)", code: code)
        }
        try make(String(path[..<slash]), mode: mode)
        if let code = failure(making: path, mode) { throw SystemError("make folder \(path)", code: code) }
    }

    /// Why there is no folder `path` now; nil where there is.
    private static func failure(making path: String, _ mode: mode_t) -> Int32? {
        if mkdir(path, mode) == 0 { return nil }
        let code = errno
        return code == EEXIST && exists(path) ? nil : code
    }
}
