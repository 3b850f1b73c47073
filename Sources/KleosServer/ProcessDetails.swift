import Glibc
import KleosSupport

/// What /proc says about the process at the other end, as far as this user may look.
struct ProcessDetails: Sendable, Equatable {
    var executable: String?
    var unit: String?

    /// Reads the details of the process behind a connection; none where it has ended, since its number may be another
    /// process's by now. Kernels before 6.5 do not say whether it has.
    static func read(of peer: PeerIdentity, through connection: FileDescriptor) -> ProcessDetails {
        let process = UnixSocket.peerProcess(of: connection)
        if case .gone = process { return ProcessDetails() }
        let details = read(pid: peer.pid, uid: peer.uid)
        if case .known(let descriptor) = process, UnixSocket.hasEnded(process: descriptor) { return ProcessDetails() }
        return details
    }

    /// Reads the executable and the systemd unit of `pid`; what cannot be read is nil.
    ///
    /// `groups` is a file system of control groups, in which the process is looked for where /proc hides it, as
    /// ProtectProc=invisible does. That shows no other user's executable.
    static func read(pid: Int32, uid: UInt32, root: String = "/proc", groups: String = "/sys/fs/cgroup")
        -> ProcessDetails
    {
        guard pid > 0 else { return ProcessDetails() }
        // Looking at another user's process is refused without privileges, and the process may be gone: both are usual.
        let own = try? SmallFile.readText(at: "\(root)/\(pid)/cgroup", limitBytes: 65_536)
        let unit =
            if let own { unit(inControlGroups: own) } else {
                ControlGroups(root: groups).group(of: pid, uid: uid).flatMap(unit(inPath:))
            }
        return ProcessDetails(executable: link("\(root)/\(pid)/exe"), unit: unit)
    }

    /// The innermost service or scope that a process's control group names.
    static func unit(inControlGroups text: String) -> String? {
        let lines = text.split(separator: "\n")
        guard
            let line = lines.first(where: { $0.hasPrefix("0::") })
                ?? lines.first(where: { $0.contains(":name=systemd:") }),
            let path = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).last
        else { return nil }
        return unit(inPath: String(path))
    }

    private static func unit(inPath path: String) -> String? {
        path.split(separator: "/").last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(String.init)
    }

    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // Sound: bytes are characters to C; readlink writes no more than the count, and only what it wrote is read.
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink(path, $0, text.count) } ?? -1
            }
        }
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
