import Glibc
import KleosSupport

/// Plays the service manager: a socket that a program tells its readiness to (sd_notify(3)).
final class NotifySocket {
    let path: String
    private let descriptor: FileDescriptor

    /// Binds a datagram socket at `path`, replacing an older one. Throws `SystemError`.
    init(path: String) throws(SystemError) {
        self.path = path
        unlink(path)
        descriptor = try UnixSocket.bindDatagrams(at: path)
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
