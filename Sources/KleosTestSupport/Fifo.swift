import Glibc
package import KleosSupport

/// A named pipe through which a program tells a test something.
package final class Fifo {
    /// Where programs write.
    package let path: String
    private let descriptor: FileDescriptor
    private var pending: [UInt8] = []

    /// Makes a pipe at `path`. Throws `SystemError`.
    package init(_ path: String) throws(SystemError) {
        self.path = path
        guard mkfifo(path, 0o600) == 0 else { throw SystemError("make \(path)") }
        // Open in both directions, so that opening waits for nobody and the end never comes.
        descriptor = try FileDescriptor.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    }

    /// Waits for the next line. Throws `SystemError`, ETIMEDOUT after two minutes.
    package func nextLine() throws(SystemError) -> String {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeFirst(end + 1)
                return line
            }
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            guard Retry.onInterrupt({ poll(&entry, 1, Patience.limitMilliseconds) }) > 0 else {
                throw SystemError("read \(path)", code: ETIMEDOUT)
            }
            pending += try descriptor.read(limitBytes: 4_096)
        }
    }
}
