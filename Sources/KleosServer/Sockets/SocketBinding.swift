import Glibc
import KleosSupport

/// Binds the daemon's own sockets, and never takes one over from a daemon that lives.
package enum SocketBinding {
    /// Binds and listens at `path`. A stale socket is replaced; one that a process listens at, and any other kind of
    /// file, is left alone. `controlGID` becomes the group of a control socket. Throws `ListenerError`.
    package static func listen(
        at path: String, role: SocketRole, controlGID: UInt32? = nil
    ) throws(ListenerError) -> Listener {
        do throws(SystemError) {
            let lock = try lock(path)
            // The lock is held until the new socket listens: two daemons that start at once cannot both find it stale.
            defer { withExtendedLifetime(lock) {} }
            try removeStale(path)
            let descriptor = try UnixSocket.listen(at: path, mode: role.mode)
            try descriptor.setNonBlocking()
            if role == .control, let controlGID {
                guard lchown(path, uid_t.max, controlGID) == 0 else {
                    let error = SystemError("give \(path) to group \(controlGID)")
                    unlink(path)
                    throw error
                }
            }
            return Listener(role: role, descriptor: descriptor, ownedPath: path)
        } catch {
            guard error.code == EADDRINUSE else { throw ListenerError(error.description) }
            throw ListenerError(
                "another daemon serves \(path), or a file is in its place; stop it, or use another folder")
        }
    }

    private static func lock(_ path: String) throws(SystemError) -> FileDescriptor {
        let descriptor = try FileDescriptor.open("\(path).lock", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard Retry.onInterrupt({ flock(descriptor.number, LOCK_EX) }) == 0 else {
            throw SystemError("lock \(path).lock")
        }
        return descriptor
    }

    /// Unlinks `path` if it is a socket at which nobody listens. Throws `SystemError`, EADDRINUSE where it is in use.
    private static func removeStale(_ path: String) throws(SystemError) {
        var information = stat()
        guard lstat(path, &information) == 0 else {
            if errno == ENOENT { return }
            throw SystemError("look at \(path)")
        }
        guard information.st_mode & S_IFMT == S_IFSOCK else { throw SystemError("bind \(path)", code: EADDRINUSE) }
        guard try isStale(path) else { throw SystemError("bind \(path)", code: EADDRINUSE) }
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemError("remove the stale socket \(path)") }
    }

    private static func isStale(_ path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try UnixSocket.connect(to: path, isNonBlocking: true)
            return false
        } catch {
            switch error.code {
            case ECONNREFUSED: return true
            case ENOENT: return true
            // A full backlog: whoever listens is slow, not dead.
            case EAGAIN: return false
            default: throw error
            }
        }
    }
}
