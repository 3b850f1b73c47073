/// The daemon's own id of an event: a UUIDv7 (RFC 9562), the only id that leaves the machine.
package struct EventKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first eight bytes, most significant first.
    package let high: UInt64
    /// The last eight bytes, most significant first.
    package let low: UInt64

    /// Makes a key from its two halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes a UUIDv7 for `wallMilliseconds` (Unix time); the rest of its bits come from `random`.
    package static func version7(wallMilliseconds: Int64, random: inout some RandomNumberGenerator) -> EventKey {
        let time = UInt64(max(0, wallMilliseconds)) & 0xFFFF_FFFF_FFFF
        return EventKey(
            high: time << 16 | 0x7000 | random.next() & 0x0FFF,
            low: 0x8000_0000_0000_0000 | random.next() >> 2)
    }

    /// When the event was recorded, Unix milliseconds.
    package var wallMilliseconds: Int64 { Int64(high >> 16) }

    /// Reads the usual form, 8-4-4-4-12 hexadecimal digits in either case; nil for anything else.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (index, byte) in bytes.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.digit(byte) else { return nil }
            if digits < 16 { halves.0 = halves.0 << 4 | digit } else { halves.1 = halves.1 << 4 | digit }
            digits += 1
        }
        self.init(high: halves.0, low: halves.1)
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    package var description: String {
        // Sound: all 36 bytes are written, and are ASCII.
        String(unsafeUninitializedCapacity: Self.textBytes) { buffer in
            write(into: buffer)
            return Self.textBytes
        }
    }

    /// Length of the usual form.
    package static let textBytes = 36

    /// Writes the usual form to the beginning of `buffer`, which has room for `textBytes`.
    package func write(into buffer: UnsafeMutableBufferPointer<UInt8>) {
        precondition(buffer.count >= Self.textBytes, "a key's text needs \(Self.textBytes) bytes")
        var position = 0
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                buffer[position] = UInt8(ascii: "-")
                position += 1
            }
            let half = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (index % 16)) & 0xF)
            buffer[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            position += 1
        }
    }

    package static func < (left: EventKey, right: EventKey) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}
