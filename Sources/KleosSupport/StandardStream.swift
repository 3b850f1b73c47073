import Glibc

/// The process's standard output and standard error, unbuffered.
package enum StandardStream: Sendable {
    case output
    case errors

    /// Puts /dev/null where a program was started without one of the three standard descriptors: else the next file or
    /// socket that it opens would get that number, and with it what is meant for people.
    package static func occupyMissing() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            // The lowest free number is this one, since those below were seen to. Without /dev it stays free.
            _ = open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }

    /// Writes text as it is. A reader that went away is no error: it has seen what it wanted.
    package func write(_ text: String) {
        let number = self == .output ? STDOUT_FILENO : STDERR_FILENO
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // Sound: the kernel reads the buffer during the call only, and no more than its count.
            let count = rest.withUnsafeBytes { buffer in
                Retry.onInterrupt { Glibc.write(number, buffer.baseAddress, buffer.count) }
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
