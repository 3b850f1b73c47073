package import KleosJSON
import KleosModel

/// Reads the named parameters of one request, and remembers which were asked for.
package struct ParameterReader {
    private let object: JSONObject
    private let source: [UInt8]
    private var asked = AskedMembers()

    /// Makes a reader of a request's parameters.
    package init(_ request: RPCRequest) {
        object = request.parameters
        source = request.source
    }

    /// The names that no read has asked for, in the order in which they came.
    package var ignored: [String] {
        guard asked.count < object.members.count else { return [] }
        return object.members.indices.lazy.filter { !asked.contains($0) }.map { object.members[$0].name }
    }

    /// The value of `name`; nil where it is absent or null.
    package mutating func value(_ name: String) -> JSONValue? {
        member(name)?.value
    }

    private mutating func member(_ name: String) -> JSONObject.Member? {
        guard let index = object.index(of: name) else { return nil }
        asked.insert(index)
        let member = object.members[index]
        return member.value.isNull ? nil : member
    }

    /// An optional string. Throws `RPCError` where it is something else, or holds a NUL character.
    package mutating func string(_ name: String) throws(RPCError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.stringValue else { throw wrongType(name, "a string") }
        guard !ExactText.hasNUL(text) else {
            throw RPCError(.invalidParameter, "\(name) must hold no NUL character", field: name)
        }
        return text
    }

    /// A string that must be there. Throws `RPCError`.
    package mutating func requiredString(_ name: String) throws(RPCError) -> String {
        guard let text = try string(name) else { throw missing(name) }
        return text
    }

    /// An optional truth value; false where it is absent. Throws `RPCError`.
    package mutating func flag(_ name: String) throws(RPCError) -> Bool {
        guard let value = value(name) else { return false }
        guard let flag = value.boolValue else { throw wrongType(name, "true or false") }
        return flag
    }

    /// An optional whole number of 64 bits. Throws `RPCError`.
    package mutating func integer(_ name: String) throws(RPCError) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let number = value.numberValue else { throw wrongType(name, "a whole number") }
        guard let integer = number.int64 else {
            throw RPCError(.invalidValue, "\(name) must be a whole number that fits in 64 bits", field: name)
        }
        return integer
    }

    /// An optional whole number within `range`. Throws `RPCError`.
    package mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(RPCError) -> Int64? {
        guard let number = try integer(name) else { return nil }
        guard range.contains(number) else {
            throw RPCError(
                .invalidValue, "\(name) must be between \(range.lowerBound) and \(range.upperBound)", field: name)
        }
        return number
    }

    /// An optional list of strings; one string stands for a list of one. Throws `RPCError`.
    package mutating func strings(_ name: String) throws(RPCError) -> [String]? {
        guard let value = value(name) else { return nil }
        if let text = value.stringValue { return [text] }
        guard let elements = value.arrayValue else { throw wrongType(name, "a list of strings") }
        var result: [String] = []
        for element in elements {
            guard let text = element.stringValue else { throw wrongType(name, "a list of strings") }
            result.append(text)
        }
        return result
    }

    /// An optional word of an enumeration. Throws `RPCError` with the words that there are.
    package mutating func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, as type: Word.Type
    ) throws(RPCError) -> Word? where Word.RawValue == String {
        guard let text = try string(name) else { return nil }
        return try Self.word(text, name, as: type)
    }

    /// An optional list of words of an enumeration. Throws `RPCError` with the words that there are.
    package mutating func words<Word: RawRepresentable & CaseIterable>(
        _ name: String, as type: Word.Type
    ) throws(RPCError) -> [Word]? where Word.RawValue == String {
        guard let texts = try strings(name) else { return nil }
        var result: [Word] = []
        for text in texts { result.append(try Self.word(text, name, as: type)) }
        return result
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ text: String, _ name: String, as type: Word.Type
    ) throws(RPCError) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw RPCError(.invalidParameter, "\(name) must be one of \(all)", field: name)
        }
        return word
    }

    /// An optional number or string that spells one; the text as it came. Throws `RPCError`.
    package mutating func numberText(_ name: String) throws(RPCError) -> String? {
        guard let value = value(name) else { return nil }
        switch value {
        case .number(let number): return number.text
        case .string(let text): return text
        default: throw wrongType(name, "a number, or a string that spells one")
        }
    }

    /// An optional point in time: RFC 3339 text, or Unix milliseconds. Throws `RPCError`.
    package mutating func time(_ name: String) throws(RPCError) -> Int64? {
        guard let value = value(name) else { return nil }
        let time = value.stringValue.map { Timestamp.milliseconds(text: $0) } ?? value.int64Value
        guard let time, Timestamp.writable.contains(time) else {
            throw RPCError(
                .invalidParameter,
                "\(name) must be a time like 2026-11-30T04:49:35Z, or milliseconds since 1970", field: name)
        }
        return time
    }

    /// The bytes of an optional object, as they came. Throws `RPCError`.
    package mutating func objectSource(_ name: String) throws(RPCError) -> [UInt8]? {
        guard let member = member(name) else { return nil }
        guard case .object = member.value else { throw wrongType(name, "an object") }
        guard !member.sourceRange.isEmpty else { return member.value.serializedBytes }
        return Array(source[member.sourceRange])
    }

    /// The error for a parameter that must be there.
    package func missing(_ name: String) -> RPCError {
        RPCError(.invalidParameter, "the parameter \(name) is missing", field: name)
    }

    private func wrongType(_ name: String, _ expected: String) -> RPCError {
        RPCError(.invalidParameter, "\(name) must be \(expected)", field: name)
    }
}

/// Which members of an object were asked for, by their places: one word for as many as requests usually have.
private struct AskedMembers {
    private(set) var count = 0
    private var first: UInt64 = 0
    private var others: Set<Int> = []

    func contains(_ index: Int) -> Bool {
        index < UInt64.bitWidth ? first & 1 << UInt64(index) != 0 : others.contains(index)
    }

    mutating func insert(_ index: Int) {
        guard !contains(index) else { return }
        count += 1
        if index < UInt64.bitWidth { first |= 1 << UInt64(index) } else { others.insert(index) }
    }
}
