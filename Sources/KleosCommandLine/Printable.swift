import KleosSupport

/// Text from elsewhere, made safe for a terminal. Pure.
package enum Printable {
    /// `text` with control characters, line breaks and marks that change the direction of writing shown as `\u{…}`.
    package static func text(_ text: String) -> String { HarmlessText.escaped(text) }

    /// `text` line by line: its own line feeds stay.
    package static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { Self.text(String($0)) }
            .joined(separator: "\n")
    }

    /// How many columns `text` takes on a terminal: wide characters of East Asia and pictures take two.
    package static func width(_ text: String) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.first.map(isWide) == true ? 2 : 1) }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
