import Glibc

/// Finds the numbers of users and groups; injected so that reading a configuration needs no machine.
package protocol AccountResolver: Sendable {
    /// The uid of `user`; nil where there is no such user.
    func uid(ofUser user: String) -> UInt32?
    /// The gid of `group`; nil where there is no such group.
    func gid(ofGroup group: String) -> UInt32?
}

/// The machine's own users and groups, through the name service switch.
package struct SystemAccounts: AccountResolver {
    /// Makes a resolver.
    package init() {}

    package func uid(ofUser user: String) -> UInt32? {
        var record = passwd()
        return Self.lookUp { buffer, size in
            var found: UnsafeMutablePointer<passwd>?
            let code = getpwnam_r(user, &record, buffer, size, &found)
            return (code, found?.pointee.pw_uid)
        }
    }

    package func gid(ofGroup group: String) -> UInt32? {
        var record = Glibc.group()
        return Self.lookUp { buffer, size in
            var found: UnsafeMutablePointer<Glibc.group>?
            let code = getgrnam_r(group, &record, buffer, size, &found)
            return (code, found?.pointee.gr_gid)
        }
    }

    /// Repeats `call` with a growing buffer, because a group's member list has no limit.
    private static func lookUp(_ call: (UnsafeMutablePointer<CChar>, Int) -> (Int32, UInt32?)) -> UInt32? {
        var size = 4_096
        while size <= 1 << 24 {
            // Sound: the record points into the buffer, and only its number leaves the closure.
            let (code, number) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
                buffer.baseAddress.map { call($0, size) } ?? (ENOMEM, nil)
            }
            switch code {
            case ERANGE: size *= 4
            case EINTR: continue
            default: return number
            }
        }
        return nil
    }
}
