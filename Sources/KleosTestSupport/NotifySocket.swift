import Glibc
import KleosSupport

/// Plays the service manager: a socket that a program tells its readiness to (sd_notify(3)).
final class NotifySocket {
    let path: String
    private let descriptor: FileDescriptor

    /// Binds a datagram socket at `path`, replacing an older one. Throws `SystemError`.
    init(path: String) throws(SystemError) {
        self.path = path
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket") }
        descriptor = FileDescriptor(owning: number)
        unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count <= UnixSocket.maximumPathBytes else { throw SystemError("bind \(path)", code: ENAMETOOLONG) }
        // Sound: at most 107 bytes, as checked above, of the 108; the rest stays zero.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError("bind \(path)") }
    }

    /// Waits for a message that holds the line `line`; false after `timeoutMilliseconds` without any message.
    func wait(for line: String, timeoutMilliseconds: Int32 = 200) throws(SystemError) -> Bool {
        while true {
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            guard Retry.onInterrupt({ poll(&entry, 1, timeoutMilliseconds) }) > 0 else { return false }
            let message = String(decoding: try descriptor.read(limitBytes: 4096), as: UTF8.self)
            if message.split(separator: "\n").contains(Substring(line)) { return true }
        }
    }
}
