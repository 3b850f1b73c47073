/// What a parser accepts at the most.
package struct JSONLimits: Sendable, Equatable {
    /// Nesting of arrays and objects.
    package var depth: Int
    /// Length of the text.
    package var maximumBytes: Int

    /// Makes limits; by default 32 levels and 1 MiB.
    package init(depth: Int = 32, maximumBytes: Int = 1 << 20) {
        self.depth = depth
        self.maximumBytes = maximumBytes
    }
}

/// Why a text is no JSON, and where.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Offset of the first byte at fault.
    package let offset: Int
    /// What is wrong there.
    package let problem: String

    package var description: String { "\(problem) at byte \(offset)" }
}

/// A strict parser of JSON (RFC 8259) that also refuses what parsers disagree on: duplicate names, a byte-order mark,
/// escapes of half a surrogate pair, UTF-8 that is not the shortest form.
package struct JSONParser {
    /// Outlives the parser. A release build checks no index in it, so that each use compares with the count first.
    private let bytes: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var position = 0
    private var depth = 0

    /// Parses one complete text. Throws `JSONError`.
    package static func parse(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        // Sound: a parser lives inside this call, and values hold copies.
        try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in try parse(buffer, limits: limits) }
    }

    /// Parses one complete text. Throws `JSONError`.
    package static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.maximumBytes else {
            throw JSONError(offset: limits.maximumBytes, problem: "more than \(limits.maximumBytes) bytes")
        }
        var parser = JSONParser(bytes: bytes, limits: limits)
        try parser.refuseOtherEncodings()
        parser.skipSpace()
        let value = try parser.value()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.error("something follows the value") }
        return value
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    private func refuseOtherEncodings() throws(JSONError) {
        guard bytes.count >= 2 else { return }
        if bytes[0] == 0xEF, bytes[1] == 0xBB { throw error("a byte-order mark is not allowed") }
        if bytes[0] >= 0xFE || bytes[0] == 0 || bytes[1] == 0 { throw error("the text is not UTF-8") }
    }

    private func error(_ problem: String) -> JSONError {
        JSONError(offset: position, problem: problem)
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        switch current {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return .number(try number())
        case nil: throw error("the text ends where a value is expected")
        default: throw error("no value begins like this")
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let matches = text.withUTF8Buffer { word in
            position + word.count <= bytes.count && word.indices.allSatisfy { bytes[position + $0] == word[$0] }
        }
        guard matches else { throw error("no value begins like this") }
        position += text.utf8CodeUnitCount
        return value
    }

    private mutating func descend() throws(JSONError) {
        depth += 1
        guard depth <= limits.depth else { throw error("nested deeper than \(limits.depth) levels") }
        position += 1
        skipSpace()
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try descend()
        var elements: [JSONValue] = []
        if current == UInt8(ascii: "]") {
            position += 1
        } else {
            repeat { elements.append(try value()) } while try separated(by: UInt8(ascii: "]"), "]")
        }
        depth -= 1
        return elements
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try descend()
        var members: [JSONObject.Member] = []
        if current == UInt8(ascii: "}") {
            position += 1
        } else {
            var names: Set<[UInt8]> = []
            repeat {
                members.append(try member(after: members, &names))
            } while try separated(by: UInt8(ascii: "}"), "}")
        }
        depth -= 1
        return JSONObject(uniqueMembers: members)
    }

    private mutating func member(
        after members: [JSONObject.Member], _ names: inout Set<[UInt8]>
    ) throws(JSONError) -> JSONObject.Member {
        guard current == UInt8(ascii: "\"") else { throw error("a name in quotes is expected") }
        let nameStart = position
        let name = try string()
        let mark = JSONObject.Member.mark(of: name)
        guard isNew(name, mark: mark, after: members, &names) else {
            throw JSONError(offset: nameStart, problem: "the name \"\(name)\" stands twice in one object")
        }
        skipSpace()
        guard current == UInt8(ascii: ":") else { throw error("a colon is expected") }
        position += 1
        skipSpace()
        let start = position
        let value = try value()
        return JSONObject.Member(name: name, mark: mark, value: value, sourceRange: start..<position)
    }

    /// Whether another element follows; false at the closing bracket, which is taken.
    private mutating func separated(by closing: UInt8, _ name: String) throws(JSONError) -> Bool {
        skipSpace()
        if current == closing {
            position += 1
            return false
        }
        guard current == UInt8(ascii: ",") else { throw error("a comma or \(name) is expected") }
        position += 1
        skipSpace()
        if current == closing { throw error("a comma before \(name) is not allowed") }
        return true
    }

    /// Whether no member before has the name. `names` is filled as soon as a search in it costs less than comparing.
    private func isNew(
        _ name: String, mark: UInt64, after members: [JSONObject.Member], _ names: inout Set<[UInt8]>
    ) -> Bool {
        guard members.count >= Self.comparedMembers else {
            return !members.contains { $0.isNamed(name, mark: mark) }
        }
        if names.isEmpty { names = Set(members.map { Array($0.name.utf8) }) }
        return names.insert(Array(name.utf8)).inserted
    }

    private static let comparedMembers = 16
}

// MARK: - Numbers and strings

extension JSONParser {
    private mutating func number() throws(JSONError) -> JSONNumber {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
            if let byte = current, Self.isDigit(byte) { throw error("a number must not begin with 0") }
        } else {
            try digits()
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return JSONNumber(text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(JSONError) {
        guard let first = current, Self.isDigit(first) else { throw error("a digit is expected") }
        while let byte = current, Self.isDigit(byte) { position += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: bytes[start..<(position - 1)], as: UTF8.self)
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case 0..<0x20: throw error("a control character must be escaped")
            case 0x20..<0x80: position += 1
            default: try multibyte()
            }
        }
        throw error("the text ends inside a string")
    }

    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var text = Array(bytes[start..<position])
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += Array(String(try escape()).utf8)
            case 0..<0x20: throw error("a control character must be escaped")
            default:
                let from = position
                if byte < 0x80 { position += 1 } else { try multibyte() }
                text += bytes[from..<position]
            }
        }
        throw error("the text ends inside a string")
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        position += 1
        guard let byte = current else { throw error("the text ends inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default:
            position -= 1
            throw error("no such escape")
        }
    }

    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), current == UInt8(ascii: "\\"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw error("half of a surrogate pair") }
        position += 2
        let second = try hexadecimal()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("half of a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hexadecimal digits are expected")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    /// Takes one character of two to four bytes in its shortest form (RFC 3629, section 4).
    private mutating func multibyte() throws(JSONError) {
        let first = bytes[position]
        let (count, second): (Int, ClosedRange<UInt8>) =
            switch first {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xE1...0xEC, 0xEE...0xEF: (3, 0x80...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0...0)
            }
        guard count > 0, position + count <= bytes.count, second.contains(bytes[position + 1]),
            (2..<count).allSatisfy({ (0x80...0xBF).contains(bytes[position + $0]) })
        else { throw error("the text is not UTF-8") }
        position += count
    }
}
