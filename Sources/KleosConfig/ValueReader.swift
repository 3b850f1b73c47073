import KleosModel

/// Why a text is no value of a setting.
struct ValueError: Error, Equatable {
    /// Continues "KEY=VALUE: ".
    var message: String
    /// Whether the text may hold a secret, and so must not be repeated.
    var isSensitive = false
}

/// Turns a setting's text into its value.
struct ValueReader<Value: Sendable>: Sendable {
    /// What is accepted, for people: "a whole number from 1 to 64".
    let expectation: String
    private let convert: @Sendable (String) -> Result<Value, ValueError>

    /// Makes a reader from a conversion.
    init(_ expectation: String, _ convert: @escaping @Sendable (String) -> Result<Value, ValueError>) {
        self.expectation = expectation
        self.convert = convert
    }

    /// Makes a reader that says "expected EXPECTATION" where `convert` gives nil.
    init(_ expectation: String, _ convert: @escaping @Sendable (String) -> Value?) {
        self.init(expectation) { text -> Result<Value, ValueError> in
            convert(text).map { .success($0) } ?? .failure(ValueError(message: "expected \(expectation)"))
        }
    }

    /// Reads `text`.
    func read(_ text: String) throws(ValueError) -> Value {
        try convert(text).get()
    }

    /// Reads what this reads, and `infinity` as nil.
    func orInfinity() -> ValueReader<Value?> {
        ValueReader<Value?>("\(expectation), or infinity") { text -> Result<Value?, ValueError> in
            if text == "infinity" { return .success(nil) }
            return convert(text).map { $0 }.mapError { ValueError(message: "\($0.message), or infinity") }
        }
    }

    /// Reads what this reads, and no text as nil.
    func orNothing() -> ValueReader<Value?> {
        ValueReader<Value?>(expectation) { text -> Result<Value?, ValueError> in
            text.isEmpty ? .success(nil) : convert(text).map { $0 }
        }
    }
}

extension ValueReader where Value == Bool {
    /// As systemd reads them.
    static let boolean = ValueReader("yes or no") { text -> Bool? in
        switch text.lowercased() {
        case "yes", "y", "true", "t", "on", "1": true
        case "no", "n", "false", "f", "off", "0": false
        default: nil
        }
    }
}

extension ValueReader where Value == Int {
    /// A whole number in decimal digits.
    static func integer(_ range: ClosedRange<Int>) -> ValueReader {
        ValueReader("a whole number from \(range.lowerBound) to \(range.upperBound)") { text -> Int? in
            guard text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") }), let number = Int(text) else {
                return nil
            }
            return range.contains(number) ? number : nil
        }
    }

    /// A whole number with a percent sign.
    static func percentage(_ range: ClosedRange<Int>) -> ValueReader {
        ValueReader("a percentage from \(range.lowerBound)% to \(range.upperBound)%") { text -> Int? in
            let digits = text.dropLast()
            guard text.hasSuffix("%"), digits.utf8.allSatisfy(\.isDigit), let number = Int(digits) else { return nil }
            return range.contains(number) ? number : nil
        }
    }
}

extension ValueReader where Value == Int64 {
    /// A span of time in systemd's spelling, within `range` milliseconds.
    static func duration(_ range: ClosedRange<Int64>) -> ValueReader {
        let limits = "from \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        return ValueReader("a duration \(limits), such as 500ms, 2s, 1h 30min or 30d") { text -> Int64? in
            DurationText.milliseconds(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number of bytes with K, M, G or T for powers of 1024, within `range` bytes.
    static func size(_ range: ClosedRange<Int64>) -> ValueReader {
        let limits = "from \(SizeText.text(range.lowerBound)) to \(SizeText.text(range.upperBound))"
        return ValueReader("a size \(limits), such as 64K, 512M or 2G") { text -> Int64? in
            SizeText.bytes(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueReader where Value == String {
    /// Any text; `expectation` is for people, and nothing is checked.
    static func text(_ expectation: String = "a text") -> ValueReader { ValueReader(expectation) { $0 } }

    /// A service's address.
    static let url = ValueReader("an address such as https://scores.example.org") {
        text -> Result<String, ValueError> in
        do throws(ValueError) {
            return .success(try ServiceURL(text).text)
        } catch {
            return .failure(error)
        }
    }
}

extension ValueReader where Value == [String] {
    /// Words separated by spaces, quoted where they contain some; `expectation` is for people.
    static func words(_ expectation: String) -> ValueReader {
        ValueReader(expectation) { text -> Result<[String], ValueError> in
            do throws(ValueError) {
                return .success(try WordList.split(text))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension ValueReader {
    /// One of `names`, by what it stands for.
    static func choice(_ names: [(name: String, value: Value)]) -> ValueReader {
        let list = names.map(\.name).alternatives
        return ValueReader("one of \(list)") { text -> Result<Value, ValueError> in
            if let found = names.first(where: { $0.name == text }) { return .success(found.value) }
            return .failure(
                ValueError(message: "expected one of \(list)\(Hint.nearest(to: text, in: names.map(\.name)))"))
        }
    }
}

extension ValueReader where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the type's names.
    static var enumeration: ValueReader {
        .choice(Value.allCases.map { ($0.rawValue, $0) })
    }
}

/// Suggestions at the end of an error.
enum Hint {
    /// `; did you mean "NAME"?`, or nothing.
    static func nearest(to name: String, in names: [String], wrap: (String) -> String = { "\"\($0)\"" }) -> String {
        Spelling.nearest(to: name, in: names).map { "; did you mean \(wrap($0))?" } ?? ""
    }
}

extension [String] {
    /// `a`, `a or b`, `a, b or c`.
    var alternatives: String {
        guard count > 1, let last else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) or \(last)"
    }
}
