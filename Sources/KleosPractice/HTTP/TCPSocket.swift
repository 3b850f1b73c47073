import CLinux
import Glibc
package import KleosSupport

/// A numeric address with a port: `127.0.0.1:8484`, `[::1]:0`; `localhost` is 127.0.0.1.
package struct TCPAddress: Sendable, Equatable, CustomStringConvertible {
    /// The host without brackets.
    package let host: String
    /// 0 lets the system choose.
    package let port: UInt16

    /// Makes an address from its parts.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`; nil for anything else.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self.init(host: host == "localhost" ? "127.0.0.1" : String(host), port: port)
    }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        return host == "::1"
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The same host with another port.
    func with(port: UInt16) -> TCPAddress { TCPAddress(host: host, port: port) }

    fileprivate func withSocketAddress<T>(
        _ body: (UnsafePointer<sockaddr>, socklen_t, Int32) -> T
    ) throws(SystemError) -> T {
        var four = sockaddr_in()
        if inet_pton(AF_INET, host, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            // Sound: a sockaddr_in begins as every sockaddr does, and its length goes with it.
            return withUnsafePointer(to: &four) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size), AF_INET)
                }
            }
        }
        var six = sockaddr_in6()
        guard inet_pton(AF_INET6, host, &six.sin6_addr) == 1 else {
            throw SystemError("use \(host), which is no numeric address", code: EINVAL)
        }
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        // Sound: as above, for a sockaddr_in6.
        return withUnsafePointer(to: &six) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in6>.size), AF_INET6)
            }
        }
    }
}

/// TCP sockets: listening and connecting.
package enum TCPSocket {
    /// Listens at `address`; the result is non-blocking and has the port that was chosen. Throws `SystemError`.
    package static func listen(at address: TCPAddress) throws(SystemError) -> (FileDescriptor, TCPAddress) {
        let result = try address.withSocketAddress { pointer, length, family in
            Result { () throws(SystemError) in
                let descriptor = try make(family)
                try setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
                guard bind(descriptor.number, pointer, length) == 0, Glibc.listen(descriptor.number, 1024) == 0 else {
                    throw SystemError("listen at \(address)")
                }
                return descriptor
            }
        }
        let descriptor = try result.get()
        try descriptor.setNonBlocking()
        return (descriptor, address.with(port: try port(of: descriptor)))
    }

    /// Connects to `address` and waits for it; reads and writes then wait at most `timeoutMilliseconds`.
    /// Throws `SystemError`.
    package static func connect(
        to address: TCPAddress, timeoutMilliseconds: Int = 30_000
    ) throws(SystemError) -> FileDescriptor {
        let result = try address.withSocketAddress { pointer, length, family in
            Result { () throws(SystemError) in
                let descriptor = try make(family)
                var time = timeval(
                    tv_sec: timeoutMilliseconds / 1000, tv_usec: timeoutMilliseconds % 1000 * 1000)
                let size = socklen_t(MemoryLayout<timeval>.size)
                guard setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &time, size) == 0,
                    setsockopt(descriptor.number, SOL_SOCKET, SO_SNDTIMEO, &time, size) == 0
                else { throw SystemError("set the time limit of a socket") }
                guard Retry.onInterrupt({ Glibc.connect(descriptor.number, pointer, length) }) == 0 else {
                    throw SystemError("connect to \(address)")
                }
                try disableDelay(descriptor)
                return descriptor
            }
        }
        return try result.get()
    }

    /// Sends small packets at once (TCP_NODELAY). Throws `SystemError`.
    package static func disableDelay(_ descriptor: FileDescriptor) throws(SystemError) {
        try setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Sends all of `bytes`, without a signal where the peer is gone. Throws `SystemError`.
    package static func sendAll(_ bytes: [UInt8], on descriptor: FileDescriptor) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            // Sound: the kernel reads during the call only, and no more than the count.
            let count = bytes.withUnsafeBytes { buffer in
                Retry.onInterrupt {
                    send(
                        descriptor.number, buffer.baseAddress.map { $0 + offset }, bytes.count - offset,
                        Int32(MSG_NOSIGNAL))
                }
            }
            guard count >= 0 else { throw SystemError("send a request") }
            offset += count
        }
    }

    /// Tells the peer that nothing more comes; reading goes on. Throws `SystemError`.
    package static func endSending(on descriptor: FileDescriptor) throws(SystemError) {
        guard shutdown(descriptor.number, Int32(SHUT_WR)) == 0 else { throw SystemError("end sending") }
    }

    private static func make(_ family: Int32) throws(SystemError) -> FileDescriptor {
        let number = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket") }
        return FileDescriptor(owning: number)
    }

    private static func setOption(
        _ descriptor: FileDescriptor, _ level: Int32, _ name: Int32, _ value: Int32
    ) throws(SystemError) {
        var value = value
        guard setsockopt(descriptor.number, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw SystemError("set option \(name) of a socket")
        }
    }

    private static func port(of descriptor: FileDescriptor) throws(SystemError) -> UInt16 {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // Sound: a sockaddr_storage has room for every address, and its length goes with it.
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor.number, $0, &length)
            }
        }
        guard result == 0 else { throw SystemError("read the address of a socket") }
        // The port stands at the same place in the addresses of both families.
        return UInt16(bigEndian: storage.sin6_port)
    }
}
