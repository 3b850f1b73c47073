import Glibc
package import KleosSupport

/// A small file system in memory that a test mounts, fills, and makes larger again.
package final class SmallDisk {
    /// Where it is mounted.
    package let path: String
    private let folder: TemporaryFolder

    /// Whether this user may mount.
    package static let isAllowed: Bool = {
        do {
            _ = try SmallDisk(kibibytes: 64)
            return true
        } catch {
            return false
        }
    }()

    /// Mounts a file system of so many KiB. Throws `SystemError`.
    package init(kibibytes: Int) throws(SystemError) {
        folder = try TemporaryFolder(prefix: "disk")
        path = folder.path("mounted")
        try Folder.make(path)
        try Self.mount(path, "size=\(kibibytes)k,mode=0700", flags: 0)
    }

    private static func mount(_ path: String, _ options: String, flags: UInt) throws(SystemError) {
        guard Glibc.mount("kleos-test", path, "tmpfs", flags, options) == 0 else {
            throw SystemError("mount a file system at \(path)")
        }
    }

    /// Makes the file system larger or smaller. Throws `SystemError`.
    package func resize(kibibytes: Int) throws(SystemError) {
        try Self.mount(path, "size=\(kibibytes)k", flags: UInt(MS_REMOUNT))
    }

    /// Allows no more writes, or allows them again; nothing may be open for writing. Throws `SystemError`.
    package func setReadOnly(_ isReadOnly: Bool) throws(SystemError) {
        try Self.mount(path, "", flags: UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0))
    }

    /// Lets other files take all room but so many KiB. Throws `SystemError`.
    package func fill(leavingKibibytes: Int = 0) throws(SystemError) {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else { throw SystemError("look at \(path)") }
        let free = Int(information.f_bavail) * Int(information.f_frsize) - leavingKibibytes * 1_024
        let file = try FileDescriptor.open("\(path)/ballast", O_WRONLY | O_CREAT)
        if free > 0 {
            let code = posix_fallocate(file.number, 0, off_t(free))
            guard code == 0 else { throw SystemError("fill \(path)", code: code) }
        }
    }

    /// Removes what `fill` wrote.
    package func empty() { unlink("\(path)/ballast") }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }
}
