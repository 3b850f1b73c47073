import Glibc
import KleosSupport

/// Where a command reads and writes; the real one, or a recorder in tests.
package struct Terminal: Sendable {
    /// Writes to standard output.
    package var write: @Sendable (String) -> Void
    /// Writes to standard error.
    package var writeError: @Sendable (String) -> Void
    /// Reads at most so many bytes from standard input; empty at its end. Throws a failure.
    package var read: @Sendable (Int) throws(CommandFailure) -> [UInt8]
    package var isInputTerminal: Bool
    package var isOutputTerminal: Bool
    package var environment: @Sendable (String) -> String?

    /// Makes a terminal from its parts.
    package init(
        write: @escaping @Sendable (String) -> Void, writeError: @escaping @Sendable (String) -> Void,
        read: @escaping @Sendable (Int) throws(CommandFailure) -> [UInt8], isInputTerminal: Bool,
        isOutputTerminal: Bool,
        environment: @escaping @Sendable (String) -> String?
    ) {
        self.write = write
        self.writeError = writeError
        self.read = read
        self.isInputTerminal = isInputTerminal
        self.isOutputTerminal = isOutputTerminal
        self.environment = environment
    }

    /// The process's own.
    package static func standard() -> Terminal {
        Terminal(
            write: { Self.put($0, STDOUT_FILENO) }, writeError: { Self.put($0, STDERR_FILENO) },
            read: { (limit: Int) throws(CommandFailure) in try Self.take(limit) },
            isInputTerminal: isatty(STDIN_FILENO) == 1, isOutputTerminal: isatty(STDOUT_FILENO) == 1,
            environment: { Environment[$0] })
    }

    private static func put(_ text: String, _ descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            // Sound: the kernel reads the buffer during the call only, and no more than its count.
            let count = bytes.withUnsafeBytes { buffer in
                Retry.onInterrupt { Glibc.write(descriptor, buffer.baseAddress, buffer.count) }
            }
            // Nobody is left to be told.
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    private static func take(_ limit: Int) throws(CommandFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        // Sound: the kernel writes during the call only, and no more than the buffer's count.
        let count = bytes.withUnsafeMutableBytes { buffer in
            Retry.onInterrupt { Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count) }
        }
        guard count >= 0 else { throw CommandFailure(.system, SystemError("read standard input").description) }
        return Array(bytes.prefix(count))
    }
}
