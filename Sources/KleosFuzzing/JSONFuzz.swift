import KleosJSON

/// The whole input is one text.
enum JSONFuzz {
    private static let limits = JSONLimits(depth: 32, maximumBytes: 65_536)

    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(bytes, limits: limits)
        } catch {
            try require((0...bytes.count).contains(error.offset), "an error at \(error.offset) of \(bytes.count)")
            try require(!error.problem.isEmpty, "an error without words")
            return
        }
        try require(bytes.count <= limits.maximumBytes, "a text of \(bytes.count) bytes was accepted")
        try require(String(validating: bytes, as: UTF8.self) != nil, "a text that is not UTF-8 was accepted")
        try check(value, depth: 0, source: bytes)
        try survivesWriting(value)
        try ignoresSpaceAround(value, bytes)
        try pointersLead(into: value, root: value, path: "")
    }

    /// Depth, names and numbers, and that each member stands where it says.
    private static func check(_ value: JSONValue, depth: Int, source: [UInt8]) throws(FuzzFailure) {
        switch value {
        case .array(let elements):
            try require(depth < limits.depth, "nested deeper than \(limits.depth)")
            for element in elements { try check(element, depth: depth + 1, source: source) }
        case .object(let object):
            try require(depth < limits.depth, "nested deeper than \(limits.depth)")
            let names = Set(object.members.map { Array($0.name.utf8) })
            try require(names.count == object.members.count, "an object with a name that stands twice")
            for member in object.members {
                let text = Array(source[member.sourceRange])
                try require(
                    (try? JSONParser.parse(text, limits: limits)) == member.value,
                    "the member \(member.name) is not where it says")
                if case .number(let number) = member.value {
                    try require(Array(number.text.utf8) == text, "the number \(number.text) was not written like this")
                }
                try check(member.value, depth: depth + 1, source: source)
            }
        case .number(let number): try check(number)
        case .raw: throw FuzzFailure(description: "the parser made a raw value")
        case .null, .bool, .string: break
        }
    }

    /// The number keeps its text; where it is a whole number of 64 bits, it is the same one as a double says.
    private static func check(_ number: JSONNumber) throws(FuzzFailure) {
        guard let double = number.double else {
            throw FuzzFailure(description: "the number \(number.text) is none to the standard library")
        }
        if let integer = number.int64 {
            try require(Double(integer) == double, "\(number.text) is taken for \(integer)")
        } else if double.magnitude < 1e15, double == double.rounded(), number.text.utf8.count < 16 {
            // Within a double's whole numbers nothing of so few digits may be missed, unless it was rounded to zero.
            let isTiny = double == 0 && number.text.contains { $0 >= "1" && $0 <= "9" }
            try require(isTiny || hasFraction(number.text), "the whole number \(number.text) is not taken for one")
        }
    }

    /// Whether digits that count stand after the point, so that only rounding made a whole number of it.
    private static func hasFraction(_ text: String) -> Bool {
        let mantissa = text.split { $0 == "e" || $0 == "E" }
        let parts = mantissa[0].split(separator: ".")
        let isScaled = mantissa.count > 1
        return isScaled || (parts.count > 1 && parts[1].contains { $0 != "0" })
    }

    private static func survivesWriting(_ value: JSONValue) throws(FuzzFailure) {
        let written = value.serializedBytes
        try require(!written.contains { $0 < 0x20 }, "the written text has more than one line")
        let again: JSONValue
        do throws(JSONError) {
            // Escapes may make it longer than what came, but not by more than six bytes for one.
            again = try JSONParser.parse(written, limits: JSONLimits(depth: 32, maximumBytes: 6 * 65_536))
        } catch {
            throw FuzzFailure(description: "what was written does not parse: \(error)")
        }
        try require(again == value, "what was written says something else")
        // Byte for byte: String's own equality also unites different spellings of one character.
        try require(again.serializedBytes == written, "writing changed the spelling of a character")
    }

    private static func ignoresSpaceAround(_ value: JSONValue, _ bytes: [UInt8]) throws(FuzzFailure) {
        guard bytes.count + 5 <= limits.maximumBytes else { return }
        let spaced = try? JSONParser.parse([0x20, 0x09, 0x0D] + bytes + [0x0A, 0x20], limits: limits)
        try require(spaced == value, "white space around the text changes it")
    }

    private static func pointersLead(
        into value: JSONValue, root: JSONValue, path: String
    ) throws(FuzzFailure) {
        try require(JSONPointer(path)?.value(in: root) == value, "the pointer \(path) leads elsewhere")
        switch value {
        case .array(let elements):
            for (index, element) in elements.prefix(4).enumerated() {
                try pointersLead(into: element, root: root, path: "\(path)/\(index)")
            }
        case .object(let object):
            for member in object.members.prefix(4) {
                var token = ""
                for scalar in member.name.unicodeScalars {
                    switch scalar {
                    case "~": token += "~0"
                    case "/": token += "~1"
                    default: token.unicodeScalars.append(scalar)
                    }
                }
                try pointersLead(into: member.value, root: root, path: "\(path)/\(token)")
            }
        default: break
        }
    }
}
