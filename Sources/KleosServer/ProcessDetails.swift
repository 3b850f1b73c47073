import Glibc
import KleosSupport

/// What /proc says about the process at the other end, as far as this user may look.
struct ProcessDetails: Sendable, Equatable {
    var executable: String?
    var unit: String?

    /// Reads the executable and the systemd unit of `pid`; what cannot be read is nil.
    static func read(pid: Int32, root: String = "/proc") -> ProcessDetails {
        guard pid > 0 else { return ProcessDetails() }
        // Looking at another user's process is refused without privileges, and the process may be gone: both are usual.
        let groups = try? SmallFile.readText(at: "\(root)/\(pid)/cgroup", limitBytes: 65_536)
        return ProcessDetails(executable: link("\(root)/\(pid)/exe"), unit: groups.flatMap(unit(inControlGroups:)))
    }

    /// The innermost service or scope that a process's control group names.
    static func unit(inControlGroups text: String) -> String? {
        let lines = text.split(separator: "\n")
        guard
            let line = lines.first(where: { $0.hasPrefix("0::") })
                ?? lines.first(where: { $0.contains(":name=systemd:") }),
            let path = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).last
        else { return nil }
        return path.split(separator: "/").last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(String.init)
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
