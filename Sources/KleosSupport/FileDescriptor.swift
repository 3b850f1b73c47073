package import Glibc

/// An open file descriptor that is closed when the last reference goes.
///
/// Why its uses are sound: a variable or a `self` keeps its object until after the system calls that use the number,
/// because Swift moves no release over a call that it cannot see into; buffers serve one call each, whose count is
/// theirs.
package final class FileDescriptor: Sendable {
    /// The number; valid as long as this object lives.
    package let number: Int32

    /// Takes over `number`, which must be open and owned by nobody else.
    package init(owning number: Int32) {
        precondition(number >= 0, "a file descriptor is never negative")
        self.number = number
    }

    deinit {
        Glibc.close(number)
    }

    /// Opens `path`; close-on-exec is always set. Throws `SystemError`.
    package static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(SystemError) -> FileDescriptor
    {
        let number = Retry.onInterrupt { Glibc.open(path, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw SystemError("open \(path)") }
        return FileDescriptor(owning: number)
    }

    /// Reads at most `limit` bytes; an empty result is the end of the file. Throws `SystemError`, EAGAIN included.
    package func read(limitBytes limit: Int) throws(SystemError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = Retry.onInterrupt { Glibc.read(number, buffer.baseAddress, limit) }
            if result < 0 { failure = errno }
            count = max(0, result)
        }
        guard failure == 0 else { throw SystemError("read descriptor \(number)", code: failure) }
        return bytes
    }

    /// Reads to the beginning of `buffer` what there is and fits, and returns how many bytes that were; 0 is the end of
    /// the file. Throws `SystemError`, EAGAIN included.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> Int {
        let count = buffer.withUnsafeMutableBytes { bytes in
            Retry.onInterrupt { Glibc.read(number, bytes.baseAddress, bytes.count) }
        }
        guard count >= 0 else { throw SystemError("read descriptor \(number)") }
        return count
    }

    /// Writes all of `bytes` to a blocking descriptor; `path` names it in errors. Throws `SystemError`.
    package func writeAll(_ bytes: [UInt8], path: String? = nil) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Retry.onInterrupt { Glibc.write(number, buffer.baseAddress.map { $0 + offset }, bytes.count - offset) }
            }
            guard count >= 0 else { throw SystemError("write \(path ?? "descriptor \(number)")") }
            offset += count
        }
    }

    /// Makes reads and writes return EAGAIN in place of waiting. Throws `SystemError`.
    package func setNonBlocking() throws(SystemError) {
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemError("set descriptor \(number) to non-blocking")
        }
    }
}

/// Repetition of calls that a signal interrupted.
package enum Retry {
    /// Repeats `call` for as long as it fails with EINTR.
    package static func onInterrupt<T: SignedInteger>(_ call: () -> T) -> T {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }
}
