import Glibc
import KleosSupport

/// One connection of a load: what it still has to write, what is unanswered, and the part of an answer that has come.
struct LoadConnection {
    /// Non-blocking.
    let descriptor: FileDescriptor
    /// Requests without an answer.
    var unanswered: Int { sent - answered }
    private(set) var answered = 0
    private var sent = 0
    /// When each unanswered request was made, by its number modulo the window.
    private var sentAt: [Int64]
    private var outgoing: [UInt8] = []
    private var written = 0
    private var partial: [UInt8] = []

    /// Takes over a connection. Throws `SystemError`.
    init(_ descriptor: FileDescriptor, window: Int) throws(SystemError) {
        self.descriptor = descriptor
        sentAt = [Int64](repeating: 0, count: window)
        try descriptor.setNonBlocking()
    }

    /// What poll(2) is to wait for.
    var events: Int16 { Int16(outgoing.isEmpty ? POLLIN : POLLIN | POLLOUT) }

    /// Fills the window with requests and writes what fits. Throws `SystemError`.
    mutating func fill<Language: LoadLanguage>(_ language: inout Language, now: Int64) throws(SystemError) {
        while sent - answered < sentAt.count {
            language.appendRequest(to: &outgoing)
            sentAt[sent % sentAt.count] = now
            sent += 1
        }
        try write()
    }

    /// Writes what is left of the requests, as far as it fits. Throws `SystemError`.
    mutating func write() throws(SystemError) {
        while written < outgoing.count {
            let count = outgoing.withUnsafeBytes { buffer in
                // Sound: written is less than the count, and the kernel reads during the call only.
                Retry.onInterrupt {
                    send(
                        descriptor.number, buffer.baseAddress.map { $0 + written }, buffer.count - written,
                        Int32(MSG_NOSIGNAL))
                }
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { throw SystemError("send events") }
            written += count
        }
        outgoing.removeAll(keepingCapacity: true)
        written = 0
    }

    /// Reads the answers that have come, and adds the microseconds of each to `latencies`. Throws `SystemError`, or
    /// `BenchFailure` for a refusal.
    mutating func read(
        _ language: some LoadLanguage, _ clock: SystemClock, into latencies: inout [Double]
    ) throws {
        let bytes = try descriptor.read(limitBytes: 65_536)
        guard !bytes.isEmpty else { throw BenchFailure("the server closed the connection") }
        let time = clock.monotonicNanoseconds
        partial += bytes
        var start = 0
        while let end = partial[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = start..<end
            let isRefusal = partial.withUnsafeBytes { language.isRefusal(UnsafeRawBufferPointer(rebasing: $0[line])) }
            guard !isRefusal, answered < sent else {
                throw BenchFailure("the server refused an event: \(String(decoding: partial[line], as: UTF8.self))")
            }
            latencies.append(Double(time - sentAt[answered % sentAt.count]) / 1e3)
            answered += 1
            start = end + 1
        }
        partial.removeFirst(start)
    }
}
