import Glibc
import KleosSupport

/// Ports of 127.0.0.1.
enum LoopbackPort {
    /// A port at which nobody listens now. Throws `SystemError`.
    static func free() throws(SystemError) -> UInt16 {
        let descriptor = try make()
        var address = address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            // Sound: a sockaddr_in begins as every sockaddr does, and no call keeps the pointer.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.number, $0, length) == 0 ? getsockname(descriptor.number, $0, &length) : -1
            }
        }
        guard code == 0 else { throw SystemError("find a free port of 127.0.0.1") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Connects to `port`, without delay for small messages. Throws `SystemError`.
    static func connect(to port: UInt16) throws(SystemError) -> FileDescriptor {
        let descriptor = try make()
        var address = address(port: port)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            // Sound: as above.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw SystemError("connect to 127.0.0.1:\(port)") }
        var on: Int32 = 1
        setsockopt(
            descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// Waits until `program` listens at `port`. Throws `BenchFailure` after ten seconds.
    static func wait(for port: UInt16, of program: Program) throws(BenchFailure) {
        for _ in 0..<2_000 {
            if (try? connect(to: port)) != nil { return }
            if program.ends(withinMilliseconds: 5) { break }
        }
        throw BenchFailure("nothing listens at 127.0.0.1:\(port); the program said: \(program.said)")
    }

    private static func make() throws(SystemError) -> FileDescriptor {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket") }
        return FileDescriptor(owning: number)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
