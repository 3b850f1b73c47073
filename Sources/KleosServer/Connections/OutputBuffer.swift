import Glibc
import KleosSupport

/// Bytes that wait for a peer to read them.
struct OutputBuffer {
    /// What a write came to.
    enum Progress {
        case finished
        case blocked
        case failed(Int32)
    }

    private var bytes: [UInt8] = []
    private var start = 0
    /// All bytes that were ever handed to the kernel.
    private(set) var writtenBytes: UInt64 = 0

    /// Bytes that wait.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    /// Adds a line and its line feed.
    mutating func append(line: [UInt8]) {
        bytes.append(contentsOf: line)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Adds a line that `write` puts together in place, and its line feed.
    mutating func appendLine(_ write: (inout [UInt8]) -> Void) {
        write(&bytes)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Writes as much as the peer takes.
    mutating func write(to descriptor: FileDescriptor) -> Progress {
        while start < bytes.count {
            // Sound: start is less than the count, and the kernel reads during the call only.
            let count = bytes.withUnsafeBytes { buffer in
                Retry.onInterrupt {
                    send(
                        descriptor.number, buffer.baseAddress.map { $0 + start }, bytes.count - start,
                        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
            }
            guard count >= 0 else {
                let code = errno
                if code == EAGAIN {
                    compact()
                    return .blocked
                }
                return .failed(code)
            }
            start += count
            writtenBytes += UInt64(count)
        }
        start = 0
        // An idle connection holds no buffer.
        bytes.removeAll(keepingCapacity: false)
        return .finished
    }

    private mutating func compact() {
        guard start > 65_536, start * 2 > bytes.count else { return }
        bytes.removeFirst(start)
        start = 0
    }
}
