/// Text whose escapes are undone layer by layer, and which knows where in the original each byte stands. Pure.
struct DecodedText {
    private var bytes: [UInt8]
    /// Where each byte begins in the original; one more than bytes, the last the original's length.
    private var starts: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        starts = Array(0...bytes.count)
    }

    /// The places in the original where `needle` stands.
    func ranges(of needle: [UInt8], ignoringCase: Bool) -> [Range<Int>] {
        guard let first = needle.first, bytes.count >= needle.count else { return [] }
        func fits(_ byte: UInt8, _ wanted: UInt8) -> Bool {
            byte == wanted || ignoringCase && (0x41...0x5A).contains(byte) && byte | 0x20 == wanted
        }
        var ranges: [Range<Int>] = []
        var index = 0
        while index + needle.count <= bytes.count {
            if fits(bytes[index], first), zip(bytes[index...], needle).allSatisfy({ fits($0, $1) }) {
                ranges.append(starts[index]..<starts[index + needle.count])
                index += needle.count
            } else {
                index += 1
            }
        }
        return ranges
    }

    /// Undoes one layer of escapes; false where there was none.
    mutating func decode() -> Bool {
        var decoded: [UInt8] = []
        var places: [Int] = []
        decoded.reserveCapacity(bytes.count)
        places.reserveCapacity(starts.count)
        var index = 0
        while index < bytes.count {
            places.append(starts[index])
            if let (byte, length) = escape(at: index) {
                decoded.append(byte)
                index += length
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        guard decoded.count < bytes.count else { return false }
        places.append(starts[bytes.count])
        (bytes, starts) = (decoded, places)
        return true
    }

    /// The byte that an escape at `index` stands for, and how many bytes it takes. A token is ASCII, so that no other
    /// character matters.
    private func escape(at index: Int) -> (byte: UInt8, length: Int)? {
        switch bytes[index] {
        case UInt8(ascii: "\\"): backslash(index + 1)
        case UInt8(ascii: "%"): number(index + 1, radix: 16, digits: 2...2).map { ($0.byte, 3) }
        case UInt8(ascii: "&"): entity(index + 1)
        default: nil
        }
    }

    private func backslash(_ index: Int) -> (byte: UInt8, length: Int)? {
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "u"): return number(index + 1, radix: 16, digits: 4...4).map { ($0.byte, 6) }
        case UInt8(ascii: "x"): return number(index + 1, radix: 16, digits: 2...2).map { ($0.byte, 4) }
        case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "\""): return (bytes[index], 2)
        default: return nil
        }
    }

    private func entity(_ index: Int) -> (byte: UInt8, length: Int)? {
        for (name, byte) in Self.entities where bytes[index...].starts(with: name) { return (byte, name.count + 1) }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "#") else { return nil }
        let isHexadecimal = index + 1 < bytes.count && bytes[index + 1] | 0x20 == UInt8(ascii: "x")
        let start = index + (isHexadecimal ? 2 : 1)
        guard let found = number(start, radix: isHexadecimal ? 16 : 10, digits: 1...7) else { return nil }
        let end = start + found.digits
        let hasSemicolon = end < bytes.count && bytes[end] == UInt8(ascii: ";")
        return (found.byte, end + (hasSemicolon ? 1 : 0) - (index - 1))
    }

    private static let entities: [(name: [UInt8], byte: UInt8)] = [
        (Array("amp;".utf8), UInt8(ascii: "&")), (Array("lt;".utf8), UInt8(ascii: "<")),
        (Array("gt;".utf8), UInt8(ascii: ">")), (Array("quot;".utf8), UInt8(ascii: "\"")),
        (Array("apos;".utf8), UInt8(ascii: "'")),
    ]

    /// The ASCII character whose number stands at `index`.
    private func number(
        _ index: Int, radix: Int, digits: ClosedRange<Int>
    ) -> (byte: UInt8, digits: Int)? {
        var value = 0
        var count = 0
        while count < digits.upperBound, index + count < bytes.count {
            guard let digit = Character(Unicode.Scalar(bytes[index + count])).hexDigitValue, digit < radix else {
                break
            }
            value = value * radix + digit
            count += 1
        }
        guard count >= digits.lowerBound, value < 0x80 else { return nil }
        return (UInt8(value), count)
    }
}
