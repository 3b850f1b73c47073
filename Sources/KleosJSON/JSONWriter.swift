/// Writes JSON on one line, as bytes of UTF-8.
package struct JSONWriter: Sendable {
    /// What has been written.
    package private(set) var bytes: [UInt8] = []

    /// Makes a writer with room for `capacity` bytes.
    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes a value.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write(literal: "null")
        case .bool(let flag): write(literal: flag ? "true" : "false")
        case .number(let number):
            var text = number.text
            text.withUTF8 { bytes.append(contentsOf: $0) }
        case .string(let text): write(string: text)
        case .array(let elements): write(array: elements)
        case .object(let object): write(object: object)
        case .raw(let raw): bytes += raw
        }
    }

    /// Writes a part of a JSON text that stands in the program.
    package mutating func write(literal text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Writes bytes that are part of a JSON text as they are.
    package mutating func write(raw: some Sequence<UInt8>) {
        bytes += raw
    }

    /// Writes a string with its quotes; only what JSON demands is escaped.
    package mutating func write(string text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { write(escaping: $0) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(escaping text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for (index, byte) in text.enumerated() where Self.needsEscape(byte) {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
            start = index + 1
            write(escape: byte)
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func write(escape byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): bytes += "\\\"".utf8
        case UInt8(ascii: "\\"): bytes += "\\\\".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0D: bytes += "\\r".utf8
        case 0x09: bytes += "\\t".utf8
        default:
            bytes += "\\u00".utf8
            bytes.append(Self.hex(byte >> 4))
            bytes.append(Self.hex(byte & 0xF))
        }
    }

    private mutating func write(array elements: [JSONValue]) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func write(object: JSONObject) {
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in object.members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(string: member.name)
            bytes.append(UInt8(ascii: ":"))
            write(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func hex(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
