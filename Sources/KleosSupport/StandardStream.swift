import Glibc

/// The process's standard output and standard error, unbuffered.
package enum StandardStream: Sendable {
    case output
    case errors

    /// Writes text as it is. A reader that went away is no error: it has seen what it wanted.
    package func write(_ text: String) {
        let number = self == .output ? STDOUT_FILENO : STDERR_FILENO
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                Retry.onInterrupt { Glibc.write(number, buffer.baseAddress, buffer.count) }
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
