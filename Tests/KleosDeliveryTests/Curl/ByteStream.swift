import Glibc
import KleosPractice
import KleosSupport

/// The server's end of one connection.
protocol ByteStream {
    /// The connection beneath.
    var descriptor: FileDescriptor { get }
    /// The next bytes; nil where the client went.
    func read() -> [UInt8]?
    /// Sends all of `bytes`; false where the client went.
    func write(_ bytes: [UInt8]) -> Bool
    /// Ends the connection as the protocol wants it.
    func close()
}

extension ByteStream {
    /// Ends the connection with a reset: connecting to nobody makes the kernel send one at once, while the descriptor
    /// stays valid.
    func reset() {
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        connect(descriptor.number, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Ends the connection without a word of the protocol above TCP.
    func hangUp() {
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }

    /// Waits until the client goes, `milliseconds` at most; true where it went.
    func isGone(afterMilliseconds milliseconds: Int32) -> Bool {
        // POLLRDHUP, which Glibc's module does not show.
        var entry = pollfd(fd: descriptor.number, events: 0x2000, revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, milliseconds) } > 0
    }
}

/// A connection without encryption.
struct PlainStream: ByteStream {
    let descriptor: FileDescriptor

    func read() -> [UInt8]? {
        guard let bytes = try? descriptor.read(limitBytes: 65_536), !bytes.isEmpty else { return nil }
        return bytes
    }

    func write(_ bytes: [UInt8]) -> Bool { (try? TCPSocket.sendAll(bytes, on: descriptor)) != nil }

    func close() { hangUp() }
}
