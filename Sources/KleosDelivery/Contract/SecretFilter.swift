package import KleosModel

/// Takes an endpoint's token out of text that came from the endpoint, before anybody else gets to see it. Pure.
///
/// A service may repeat what it was sent, as it is or in the spelling of JSON, URLs, HTML, base64 or hexadecimal
/// digits, also one within another. A hostile one can always find a spelling that nobody knows; it has the token
/// anyway.
package struct SecretFilter: Sendable {
    /// What stands where the token was.
    package static let mark = "(secret)"

    private let plain: [UInt8]
    /// Spellings without escapes, as bytes of base64 and hexadecimal text.
    private let encoded: [(bytes: [UInt8], ignoresCase: Bool)]

    /// Escapes within escapes that are looked through.
    private static let maximumLayers = 3
    /// A shorter piece of base64 or hexadecimal text is no sign of anything.
    private static let minimumEncodedBytes = 8

    /// Makes a filter for an endpoint's token; without one it changes nothing.
    package init(_ secret: Secret?) {
        plain = Array((secret?.exposed ?? "").utf8)
        var spellings = Base64.pieces(of: plain).map { (bytes: $0, ignoresCase: false) }
        spellings.append((plain.flatMap { Self.hex($0) }, true))
        encoded = spellings.filter { $0.bytes.count >= Self.minimumEncodedBytes }
    }

    /// `text` without the token.
    package func clean(_ text: String) -> String {
        if plain.isEmpty { return text }
        let bytes = Array(text.utf8)
        var layer = DecodedText(bytes)
        var ranges: [Range<Int>] = []
        for _ in 0...Self.maximumLayers {
            ranges += layer.ranges(of: plain, ignoringCase: false)
            for spelling in encoded {
                ranges += layer.ranges(of: spelling.bytes, ignoringCase: spelling.ignoresCase).map {
                    Self.widened($0, in: bytes)
                }
            }
            guard layer.decode() else { break }
        }
        return ranges.isEmpty ? text : Self.cut(ranges, from: bytes)
    }

    /// The beginning of an answer's `body` without the token, at most `maximumBytes` of UTF-8, for the receipt.
    package func beginning(of body: [UInt8], maximumBytes: Int) -> String {
        let window = body.prefix(Self.windowBytes)
        let text = Array(clean(String(decoding: window, as: UTF8.self)).utf8)
        // Half a token may stand at the end of the window. Where little but tokens came before it, it could be kept.
        if window.count < body.count, text.count < window.count / 2 { return Self.mark }
        var end = min(text.count, maximumBytes)
        while end > 0, end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: text[..<end], as: UTF8.self)
    }

    /// So much of an answer is looked through; far more than a receipt keeps, and than a token takes.
    private static let windowBytes = 65_536

    /// The characters of base64 on both sides belong to the same piece, of which they tell some bits.
    private static func widened(_ range: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
        let lower = bytes[..<range.lowerBound].suffix(4).reversed().prefix { Base64.isDigit($0) }.count
        let upper = bytes[range.upperBound...].prefix(4).prefix { Base64.isDigit($0) }.count
        return range.lowerBound - lower..<range.upperBound + upper
    }

    private static func cut(_ ranges: [Range<Int>], from bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        var end = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > end {
            if range.lowerBound >= end {
                result += bytes[end..<range.lowerBound]
                result += mark.utf8
            }
            end = range.upperBound
        }
        return String(decoding: result + bytes[end...], as: UTF8.self)
    }

    private static func hex(_ byte: UInt8) -> [UInt8] {
        [byte >> 4, byte & 0xF].map { $0 < 10 ? 0x30 + $0 : 0x61 + $0 - 10 }
    }
}

/// Spellings in base64.
private enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func isDigit(_ byte: UInt8) -> Bool {
        digits.contains(byte) || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "=")].contains(byte)
    }

    /// What base64 makes of `bytes` wherever they begin within a group of three, in both alphabets: only the digits
    /// that depend on nothing but `bytes`.
    static func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        for offset in 0..<3 {
            let padded = [UInt8](repeating: 0, count: offset) + bytes
            let first = (offset * 8 + 5) / 6
            let end = padded.count * 8 / 6
            guard first < end else { continue }
            let piece = (first..<end).map { index in digits[Int(sextet(index, of: padded))] }
            pieces.append(piece)
            pieces.append(
                piece.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                })
        }
        return pieces
    }

    private static func sextet(_ index: Int, of bytes: [UInt8]) -> UInt8 {
        (0..<6).reduce(0) { result, bit in
            let position = index * 6 + bit
            return result << 1 | bytes[position / 8] >> UInt8(7 - position % 8) & 1
        }
    }
}
