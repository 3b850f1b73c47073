import CLinux
import Glibc

/// Who is at the other end of a Unix socket, as the kernel says.
package struct PeerIdentity: Sendable, Equatable {
    /// The peer's user id.
    package var uid: UInt32
    /// The peer's primary group id.
    package var gid: UInt32
    /// The peer's process id at the time it connected.
    package var pid: Int32
    /// All groups of the peer, the primary included.
    package var groups: [UInt32]

    /// Makes an identity from its parts.
    package init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32]) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.groups = groups
    }
}

/// Unix stream sockets: listening, connecting, and the identity of the peer.
package enum UnixSocket {
    /// The longest path that a socket address holds, in bytes.
    package static let maximumPathBytes = 107

    /// Connects to the socket at `path`; `isNonBlocking` gives EAGAIN where the backlog is full, in place of waiting,
    /// and makes the connection non-blocking. With `sendTimeoutMilliseconds`, connecting and each write give EAGAIN
    /// after so long. Throws `SystemError`.
    package static func connect(
        to path: String, isNonBlocking: Bool = false, sendTimeoutMilliseconds: Int64? = nil
    ) throws(SystemError) -> FileDescriptor {
        let descriptor = try make()
        if let sendTimeoutMilliseconds {
            var time = timeval(
                tv_sec: Int(sendTimeoutMilliseconds / 1_000), tv_usec: Int(sendTimeoutMilliseconds % 1_000) * 1_000)
            let size = socklen_t(MemoryLayout<timeval>.size)
            guard setsockopt(descriptor.number, SOL_SOCKET, SO_SNDTIMEO, &time, size) == 0 else {
                throw SystemError("limit the time of \(path)")
            }
        }
        if isNonBlocking { try descriptor.setNonBlocking() }
        let result = try withAddress(path) { address, length in
            Retry.onInterrupt { Glibc.connect(descriptor.number, address, length) }
        }
        guard result == 0 else { throw SystemError("connect to \(path)") }
        return descriptor
    }

    /// Binds and listens at `path`, with `mode` from the first moment on. Throws `SystemError`, EADDRINUSE included.
    package static func listen(at path: String, mode: UInt32, backlog: Int32 = 1024) throws(SystemError)
        -> FileDescriptor
    {
        let descriptor = try make()
        // fchmod before bind sets the mode of the file that bind makes, so that there is no moment with another one.
        guard fchmod(descriptor.number, mode) == 0 else { throw SystemError("set the mode of \(path)") }
        let old = umask(0)
        let result = try withAddress(path) { address, length in Glibc.bind(descriptor.number, address, length) }
        let code = errno
        umask(old)
        guard result == 0 else { throw SystemError("bind \(path)", code: code) }
        guard Glibc.listen(descriptor.number, backlog) == 0 else { throw SystemError("listen at \(path)") }
        return descriptor
    }

    /// Binds a socket at `path` that takes datagrams, such as those of sd_notify(3). Throws `SystemError`.
    package static func bindDatagrams(at path: String) throws(SystemError) -> FileDescriptor {
        let descriptor = try make(SOCK_DGRAM)
        let result = try withAddress(path) { address, length in Glibc.bind(descriptor.number, address, length) }
        guard result == 0 else { throw SystemError("bind \(path)") }
        return descriptor
    }

    /// Makes a connected pair. Throws `SystemError`.
    package static func pair() throws(SystemError) -> (FileDescriptor, FileDescriptor) {
        var numbers: (Int32, Int32) = (-1, -1)
        // Sound: a tuple of two Int32 is bound to Int32 and has room for the two.
        let result = withUnsafeMutableBytes(of: &numbers) { bytes in
            socketpair(
                AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0,
                // Sound as said above.
                bytes.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        guard result == 0 else { throw SystemError("make a socket pair") }
        return (FileDescriptor(owning: numbers.0), FileDescriptor(owning: numbers.1))
    }

    /// Accepts one connection, non-blocking; nil where none waits. Throws `SystemError`.
    package static func accept(on listener: FileDescriptor) throws(SystemError) -> FileDescriptor? {
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = Retry.onInterrupt { kleos_accept4(listener.number, flags) }
        if number >= 0 { return FileDescriptor(owning: number) }
        switch errno {
        case EAGAIN, ECONNABORTED: return nil
        default: throw SystemError("accept a connection")
        }
    }

    /// Asks the kernel who is at the other end (SO_PEERCRED, SO_PEERGROUPS). Throws `SystemError`.
    package static func peer(of descriptor: FileDescriptor) throws(SystemError) -> PeerIdentity {
        var credentials = kleos_ucred()
        var length = socklen_t(MemoryLayout<kleos_ucred>.size)
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
            throw SystemError("read the peer's credentials")
        }
        var groups = [gid_t](repeating: 0, count: 64)
        while true {
            var bytes = socklen_t(groups.count * MemoryLayout<gid_t>.size)
            if getsockopt(descriptor.number, SOL_SOCKET, SO_PEERGROUPS, &groups, &bytes) == 0 {
                groups.removeLast(groups.count - Int(bytes) / MemoryLayout<gid_t>.size)
                break
            }
            guard errno == ERANGE else { throw SystemError("read the peer's groups") }
            groups = [gid_t](repeating: 0, count: Int(bytes) / MemoryLayout<gid_t>.size)
        }
        if !groups.contains(credentials.gid) { groups.append(credentials.gid) }
        return PeerIdentity(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid, groups: groups)
    }

    /// The process at the other end.
    package enum PeerProcess: Sendable {
        /// Readable once the process has ended.
        case known(FileDescriptor)
        /// It has ended.
        case gone
        /// The kernel cannot say.
        case unknown
    }

    /// The process that connected, whatever has its number by now (SO_PEERPIDFD).
    package static func peerProcess(of descriptor: FileDescriptor) -> PeerProcess {
        var number: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor.number, SOL_SOCKET, kleos_so_peerpidfd, &number, &length) == 0, number >= 0 else {
            return errno == ENOPROTOOPT ? .unknown : .gone
        }
        return .known(FileDescriptor(owning: number))
    }

    /// Whether the process of a descriptor that `peerProcess` gave has ended.
    package static func hasEnded(process: FileDescriptor) -> Bool {
        var entry = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, 0) } > 0
    }

    private static func make(_ kind: __socket_type = SOCK_STREAM) throws(SystemError) -> FileDescriptor {
        let number = socket(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket") }
        return FileDescriptor(owning: number)
    }

    private static func withAddress<T>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
    ) throws(SystemError) -> T {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= maximumPathBytes, !bytes.contains(0) else {
            throw SystemError("use the socket path \(path) (at most \(maximumPathBytes) bytes)", code: ENAMETOOLONG)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Sound: at most 107 bytes, as checked above, of the 108; the rest stays zero. A sockaddr_un begins as every
        // sockaddr does, and no call keeps the pointer.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
