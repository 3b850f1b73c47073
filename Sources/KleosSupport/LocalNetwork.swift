import Glibc

/// The machine's own part of the network.
package enum LocalNetwork {
    /// Whether an interface that is up, other than the loopback one, has an address that leads beyond its link; true
    /// where the system does not say.
    package static func hasAddress() -> Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return true }
        defer { freeifaddrs(list) }
        var next = list
        // Sound: the list stays as getifaddrs made it until it is freed above.
        while let entry = next?.pointee {
            let flags = Int32(bitPattern: entry.ifa_flags)
            let isUp = flags & Int32(IFF_UP) != 0 && flags & Int32(IFF_LOOPBACK) == 0
            if isUp, let address = entry.ifa_addr, leadsBeyondLink(address) { return true }
            next = entry.ifa_next
        }
        return false
    }

    private static func leadsBeyondLink(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET: true
        case AF_INET6:
            // Sound: the family says which structure it is; fe80::/10 are the addresses of a link.
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { !($0[0] == 0xFE && $0[1] & 0xC0 == 0x80) }
            }
        default: false
        }
    }
}
