import Glibc
package import KleosSupport

/// The syncs of a process that runs under strace, which stops it at these calls only.
package struct SyncTrace: Sendable {
    private let file: String

    /// Watches for what `command` writes to `file`.
    package init(file: String) {
        self.file = file
    }

    /// What goes in front of a program's command line. The program keeps its process id, and the tracer ends with it.
    package var command: [String] {
        ["strace", "-D", "-f", "-q", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", file]
    }

    /// The syncs so far. Throws `SystemError`.
    package func count() throws(SystemError) -> Int {
        Self.count(in: try SmallFile.readText(at: file, limitBytes: 1 << 30))
    }

    /// The syncs in a trace; one that another thread interrupted stands there in two parts.
    package static func count(in text: String) -> Int {
        text.utf8.split(separator: UInt8(ascii: "\n")).count { line in
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
            return words.count > 1 && (words[1].starts(with: "fsync(".utf8) || words[1].starts(with: "fdatasync(".utf8))
        }
    }
}
