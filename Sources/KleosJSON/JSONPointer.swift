/// A path to a value inside a JSON value (RFC 6901).
package struct JSONPointer: Sendable, Equatable, CustomStringConvertible {
    /// The pointer as it was written.
    package let description: String
    private let tokens: [String]

    /// Reads a pointer: empty, or `/`-separated tokens with `~0` for `~` and `~1` for `/`; nil for anything else.
    package init?(_ text: String) {
        description = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        // By code point: a combining mark after a slash would make another Character of it.
        guard text.unicodeScalars.first == "/" else { return nil }
        var tokens: [String] = []
        for token in text.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let token = Self.unescape(token) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    private static func unescape(_ token: Substring.UnicodeScalarView) -> String? {
        var result = ""
        var isEscape = false
        for scalar in token {
            switch (isEscape, scalar) {
            case (true, "0"): result.unicodeScalars.append("~")
            case (true, "1"): result.unicodeScalars.append("/")
            case (true, _): return nil
            case (false, "~"): break
            case (false, _): result.unicodeScalars.append(scalar)
            }
            isEscape = !isEscape && scalar == "~"
        }
        return isEscape ? nil : result
    }

    /// The value that the pointer leads to; nil where there is none.
    package func value(in root: JSONValue) -> JSONValue? {
        var value = root
        for token in tokens {
            switch value {
            case .object(let object):
                guard let member = object[token] else { return nil }
                value = member
            case .array(let elements):
                let isIndex =
                    token == "0" || (token.first != "0" && token.utf8.allSatisfy { (0x30...0x39).contains($0) })
                guard isIndex, let index = Int(token), elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }
}
