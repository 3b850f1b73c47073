import Glibc

/// The groups of a user who is not there to be asked, from the machine's lists, remembered for a minute.
struct UserGroups {
    private static let keptNanoseconds: Int64 = 60_000_000_000
    private static let maximumUsers = 1_024

    private var known: [UInt32: (groups: [UInt32], readNanoseconds: Int64)] = [:]

    /// All groups of `uid`; none where the machine knows no such user.
    mutating func groups(of uid: UInt32, nowNanoseconds now: Int64) -> [UInt32] {
        if let entry = known[uid], now - entry.readNanoseconds < Self.keptNanoseconds { return entry.groups }
        if known.count >= Self.maximumUsers { known = [:] }
        let groups = Self.read(uid)
        known[uid] = (groups, now)
        return groups
    }

    private static func read(_ uid: UInt32) -> [UInt32] {
        var size = 4_096
        while size <= 1 << 24 {
            // Sound: the record's name points into the buffer, and is used before the closure returns.
            let (code, groups) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
                var record = passwd()
                var found: UnsafeMutablePointer<passwd>?
                guard let base = buffer.baseAddress else { return (ENOMEM, [UInt32]()) }
                let code = getpwuid_r(uid, &record, base, size, &found)
                guard found != nil, let name = record.pw_name else { return (code, [UInt32]()) }
                return (0, list(name, record.pw_gid))
            }
            switch code {
            case ERANGE: size *= 4
            case EINTR: continue
            default: return groups
            }
        }
        return []
    }

    private static func list(_ name: UnsafePointer<CChar>, _ primary: gid_t) -> [UInt32] {
        var groups = [gid_t](repeating: 0, count: 64)
        while groups.count < 65_536 {
            var count = Int32(groups.count)
            if getgrouplist(name, primary, &groups, &count) >= 0 { return Array(groups.prefix(Int(count))) }
            groups = [gid_t](repeating: 0, count: max(Int(count), groups.count * 2))
        }
        return [primary]
    }
}
