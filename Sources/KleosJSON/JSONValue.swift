/// A JSON value that keeps numbers exactly as they were written.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
    /// A complete JSON text that is written out as it is; a parser never makes one.
    case raw([UInt8])

    /// Whether it is `null`.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The text of a string; nil for anything else.
    package var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value; nil for anything else.
    package var boolValue: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The number; nil for anything else.
    package var numberValue: JSONNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    /// A number that is a whole number of 64 bits, however it is spelled; nil for anything else.
    package var int64Value: Int64? { numberValue?.int64 }

    /// The elements of an array; nil for anything else.
    package var arrayValue: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object; nil for anything else.
    package var objectValue: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The member `name` of an object; nil where it is absent or this is no object.
    package subscript(name: String) -> JSONValue? { objectValue?[name] }

    /// Makes a number from an integer.
    package static func integer(_ number: some BinaryInteger) -> JSONValue {
        .number(JSONNumber(text: String(number)))
    }

    /// The value as one line of JSON, as bytes of UTF-8.
    package var serializedBytes: [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.bytes
    }

    /// The value as one line of JSON.
    package var serialized: String { String(decoding: serializedBytes, as: UTF8.self) }
}

/// A number of a JSON text, kept as it was written.
package struct JSONNumber: Sendable, Equatable {
    /// The number in JSON's own grammar.
    package let text: String

    /// Takes over a text that must be a JSON number.
    package init(text: String) {
        self.text = text
    }

    /// The value where it is a whole number of 64 bits: `8080`, `8080.0` and `8.08e3` are the same.
    package var int64: Int64? {
        if let number = Int64(text), !text.hasPrefix("+") { return number }
        return ExactInteger.parse(Array(text.utf8))
    }

    /// The nearest binary floating-point number.
    package var double: Double? { Double(text) }
}

/// Whole numbers written with a fraction of zeros or an exponent.
private enum ExactInteger {
    static func parse(_ text: [UInt8]) -> Int64? {
        guard text.count <= 64 else { return nil }
        var digits: [UInt8] = []
        var exponent = 0
        var index = 0
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { index = 1 }
        var hasPoint = false
        while index < text.count, text[index] != UInt8(ascii: "e"), text[index] != UInt8(ascii: "E") {
            if text[index] == UInt8(ascii: ".") {
                hasPoint = true
            } else {
                digits.append(text[index])
                if hasPoint { exponent -= 1 }
            }
            index += 1
        }
        if index < text.count {
            let power = Int(String(decoding: text[(index + 1)...], as: UTF8.self))
            guard let power, (-1000...1000).contains(power) else { return nil }
            exponent += power
        }
        return value(digits: digits, exponent: exponent, isNegative: isNegative)
    }

    private static func value(digits: [UInt8], exponent: Int, isNegative: Bool) -> Int64? {
        var digits = digits
        var exponent = exponent
        while exponent < 0, digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        guard digits.contains(where: { $0 != UInt8(ascii: "0") }) else { return 0 }
        guard (0...19).contains(exponent) else { return nil }
        let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
        return Int64(text + String(repeating: "0", count: exponent))
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(nilLiteral: ()) { self = .null }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object[name] = value }
        self = .object(object)
    }
}
