/// One complete HTTP/1.x request.
package struct HTTPRequest: Sendable {
    /// The method as it was sent.
    package var method: String
    /// The request target as it was sent.
    package var target: String
    /// Header fields in the order in which they came; the names in lower case.
    package var headers: [(name: String, value: String)] = []
    /// The body, with any chunking undone.
    package var body: [UInt8] = []
    /// Whether the connection may carry another request.
    package var keepsAlive = true

    /// The first header field `name`, which must be in lower case; nil where it is absent.
    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// The target without its query.
    package var path: String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        return String(target[..<mark])
    }

    /// The path's segments with percent-encoding undone; nil where an escape is broken or the result is no UTF-8.
    package var pathSegments: [String]? {
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let text = Self.percentDecoded(part.utf8) else { return nil }
            segments.append(text)
        }
        return segments
    }

    /// The value of the query's parameter `name`; nil where it is absent.
    package func query(_ name: String) -> String? {
        guard let mark = target.firstIndex(of: "?") else { return nil }
        for pair in target[target.index(after: mark)...].split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count == 2 ? Self.percentDecoded(parts[1].utf8) : "" }
        }
        return nil
    }

    private static func percentDecoded(_ text: Substring.UTF8View) -> String? {
        guard text.contains(UInt8(ascii: "%")) else { return String(Substring(text)) }
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
