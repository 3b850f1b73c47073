/// Comparison byte by byte, for players and other opaque names.
///
/// String's own equality unites different spellings of one character (é as one code point or as two), and would credit
/// one player's score to another.
package enum ExactText {
    /// Whether both have the same bytes.
    package static func same(_ left: String, _ right: String) -> Bool {
        // Short texts compare as two words, which settles nearly all.
        guard left.utf8.count == right.utf8.count, left == right else { return false }
        let isSame = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { left.elementsEqual($0) }
        }
        return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
    }

    /// Whether `text` holds the NUL character.
    package static func hasNUL(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    /// Whether one of `names` has the bytes of `name`.
    package static func contains(_ names: some Sequence<String>, _ name: String) -> Bool {
        names.contains { same($0, name) }
    }

    /// As many whole code points from the beginning of `text` as fit in `maximumBytes`. One Character would not do as
    /// the measure: it may have any number of combining marks.
    package static func clipped(_ text: String, maximumBytes: Int) -> String {
        guard text.utf8.count > maximumBytes else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: maximumBytes)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }
}
