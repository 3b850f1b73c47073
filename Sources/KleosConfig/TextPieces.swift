extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    var isLetterOrDigit: Bool { isDigit || isLetter }

    /// Whether this is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether this is an ASCII letter.
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// Whether this may stand in a language tag: `de`, `pt_BR`, `sr@latin`.
    var isOfLanguageTag: Bool {
        isLetterOrDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "-") || self == UInt8(ascii: "@")
    }
}

extension StringProtocol where SubSequence == Substring {
    /// Without the spaces, tabs and carriage returns at both ends.
    var trimmed: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }

    /// Fit for an error message: at most 60 characters.
    var shortened: String {
        count <= 60 ? String(self) : "\(prefix(57))..."
    }
}
