/// What text from elsewhere must not do to a terminal or a log: move the cursor, begin a line, turn the direction of
/// writing, or say something that cannot be seen. Pure.
package enum HarmlessText {
    /// Whether `scalar` does more than take a place: a control character, a line or paragraph separator, a mark of the
    /// direction of writing, an invisible operator or a tag.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE007F:
            true
        default: false
        }
    }

    /// `text` with every unsafe scalar shown as `\u{…}`.
    package static func escaped(_ text: String) -> String {
        replacing(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// `text`, which is JSON on one line, with every unsafe scalar in JSON's own spelling; the values stay the same.
    package static func escaped(json text: String) -> String {
        replacing(text) { scalar in
            "\(Character(scalar))".utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    private static func replacing(_ text: String, _ spelling: (Unicode.Scalar) -> String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                result += spelling(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
