import CLinux
package import Dispatch
import Glibc
package import KleosSupport

/// Tells when the machine's network changed: an address or a default route came or went (rtnetlink(7)).
package final class NetworkMonitor {
    private let source: any DispatchSourceRead
    private let descriptor: FileDescriptor

    /// Several changes within this time are one.
    private static let settleMilliseconds = 300

    /// Calls `handler` on `queue` after each change, once it has settled. Throws `SystemError`.
    package init(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) throws(SystemError) {
        let flags = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_NETLINK, flags, Int32(NETLINK_ROUTE))
        guard number >= 0 else { throw SystemError("watch the network") }
        let descriptor = FileDescriptor(owning: number)
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(
            RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)
        // Sound: a sockaddr_nl begins as every sockaddr does, and its length goes with it; bind keeps no pointer.
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        guard bound == 0 else { throw SystemError("watch the network") }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        let settling = Settling(queue: queue, handler: handler)
        source.setEventHandler {
            Self.drain(descriptor)
            settling.touch()
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// The messages themselves do not matter; lost ones (ENOBUFS) are a change as well.
    private static func drain(_ descriptor: FileDescriptor) {
        // Sound: recv writes no more than the count; nothing is read.
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while recv(descriptor.number, buffer.baseAddress, buffer.count, 0) > 0 {}
        }
    }

    /// Waits until nothing more comes for a moment; used on one queue only.
    private final class Settling: Sendable {
        private let queue: DispatchQueue
        private let handler: @Sendable () -> Void
        private let isWaiting: Pending

        init(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
            self.queue = queue
            self.handler = handler
            isWaiting = Pending()
        }

        func touch() {
            guard isWaiting.begin() else { return }
            queue.asyncAfter(deadline: .now() + .milliseconds(NetworkMonitor.settleMilliseconds)) {
                self.isWaiting.end()
                self.handler()
            }
        }
    }
}
