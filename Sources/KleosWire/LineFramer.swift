import Glibc

/// Splits a stream of bytes into lines, with a limit on their length.
///
/// A line ends at a line feed; a carriage return before it is dropped. A line that is too long is reported once and
/// skipped up to its end, without being kept.
package struct LineFramer: Sendable {
    /// One thing that the stream held.
    package enum Frame: Sendable, Equatable {
        /// A line without its end.
        case line([UInt8])
        /// A line of more than the limit.
        case tooLong
    }

    /// Room that an empty buffer keeps.
    private static let keptBytes = 1_024

    private let maximumBytes: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var scanned = 0
    private var isSkipping = false

    /// Makes a framer for lines of at most `maximumBytes`.
    package init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Whether the stream stopped inside a line.
    package var hasPartialLine: Bool { isSkipping || start < buffer.count }

    /// Bytes that were taken in and belong to no frame yet.
    package var pendingBytes: Int { buffer.count - start }

    /// Takes in what the stream brought.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Takes in what the stream brought.
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// The next frame; nil until more bytes come.
    package mutating func next() -> Frame? {
        // Sound: what is looked at lies within the buffer, and the place found leaves the closure as an offset.
        let end = buffer.withUnsafeBytes { bytes -> Int? in
            guard scanned < bytes.count, let base = bytes.baseAddress else { return nil }
            return memchr(base + scanned, 0x0A, bytes.count - scanned).map { UnsafeRawPointer($0) - base }
        }
        guard let end else {
            scanned = buffer.count
            return overflow()
        }
        let line = buffer[start..<end]
        start = end + 1
        scanned = start
        defer { compact() }
        if isSkipping {
            isSkipping = false
            return next()
        }
        let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        return content.count > maximumBytes ? .tooLong : .line(Array(content))
    }

    private mutating func overflow() -> Frame? {
        guard start < buffer.count else {
            // A connection that has nothing to say holds no buffer.
            buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptBytes)
            start = 0
            scanned = 0
            return nil
        }
        // One byte more than the limit may still be a carriage return.
        guard isSkipping || buffer.count - start > maximumBytes + 1 else {
            compact()
            return nil
        }
        let isFirst = !isSkipping
        isSkipping = true
        buffer.removeAll()
        start = 0
        scanned = 0
        return isFirst ? .tooLong : nil
    }

    private mutating func compact() {
        guard start > 65_536, start * 2 > buffer.count else { return }
        buffer.removeFirst(start)
        scanned -= start
        start = 0
    }
}
