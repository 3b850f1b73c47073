import Glibc
package import KleosSupport

/// A listening socket on 127.0.0.1, for games without Unix sockets, and the token that stands for the kernel's word on
/// who asks.
package struct LoopbackSocket: Sendable {
    /// Listens, non-blocking.
    package var descriptor: FileDescriptor
    package var port: UInt16
    /// 64 hexadecimal digits, what a client sends as its first line.
    package var token: String

    /// Listens at `port`, 0 for any that is free, with a new token. Throws `SystemError`, EADDRINUSE included.
    package static func listen(port: UInt16) throws(SystemError) -> LoopbackSocket {
        let number = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket for LoopbackPort=") }
        let descriptor = FileDescriptor(owning: number)
        var yes: Int32 = 1
        // Connections of an earlier daemon that still linger do not keep the port from this one.
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        guard withAddress(&address, { bind(number, $0, $1.pointee) }) == 0 else {
            throw SystemError("listen at 127.0.0.1:\(port) (LoopbackPort=)")
        }
        guard Glibc.listen(number, 64) == 0, withAddress(&address, { getsockname(number, $0, $1) }) == 0 else {
            throw SystemError("listen at 127.0.0.1:\(port) (LoopbackPort=)")
        }
        return LoopbackSocket(
            descriptor: descriptor, port: UInt16(bigEndian: address.sin_port), token: makeToken())
    }

    /// What a client reads: the token and the port, a line each.
    package var ticket: [UInt8] { Array("\(token)\n\(port)\n".utf8) }

    private static func withAddress(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int32 {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Sound: a sockaddr_in begins as every sockaddr does, and its length goes with it; no call keeps a pointer.
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
    }

    /// Drawn from the kernel's own randomness.
    private static func makeToken() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        return String((0..<64).map { _ in digits[Int(random.next() & 15 as UInt64)] })
    }
}
