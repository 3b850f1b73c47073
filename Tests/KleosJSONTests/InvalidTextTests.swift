import KleosJSON
import Testing

/// What the parser refuses, with the place and the sentence.
@Suite struct InvalidTextTests {
    @Test(
        arguments: [
            ("", 0, "the text ends where a value is expected"),
            ("  ", 2, "the text ends where a value is expected"),
            ("nul", 0, "no value begins like this"),
            ("nulL", 0, "no value begins like this"),
            ("True", 0, "no value begins like this"),
            ("NaN", 0, "no value begins like this"),
            ("Infinity", 0, "no value begins like this"),
            ("'a'", 0, "no value begins like this"),
            ("// c\n1", 0, "no value begins like this"),
            ("1 2", 2, "something follows the value"),
            ("{} x", 3, "something follows the value"),
            ("[]]", 2, "something follows the value"),
            ("nulll", 4, "something follows the value"),
            ("[1,]", 3, "a comma before ] is not allowed"),
            ("[,1]", 1, "no value begins like this"),
            ("[1 2]", 3, "a comma or ] is expected"),
            ("[1", 2, "a comma or ] is expected"),
            ("[1}", 2, "a comma or ] is expected"),
            ("[", 1, "the text ends where a value is expected"),
            ("{", 1, "a name in quotes is expected"),
            ("{a:1}", 1, "a name in quotes is expected"),
            ("{1:1}", 1, "a name in quotes is expected"),
            (#"{"a" 1}"#, 5, "a colon is expected"),
            (#"{"a":}"#, 5, "no value begins like this"),
            (#"{"a":1,}"#, 7, "a comma before } is not allowed"),
            (#"{"a":1 "b":2}"#, 7, "a comma or } is expected"),
            (#"{"a":1"#, 6, "a comma or } is expected"),
            (#"{"a":1,"a":2}"#, 7, #"the name "a" stands twice in one object"#),
            (#"{"a":1,"\u0061":2}"#, 7, #"the name "a" stands twice in one object"#),
            (#"{"o":{"é":1,"\u00e9":2}}"#, 13, #"the name "é" stands twice in one object"#),
            ("\"a", 2, "the text ends inside a string"),
            ("\"a\\", 3, "the text ends inside a string"),
            ("\"a\\\"", 4, "the text ends inside a string"),
            ("\"a\u{1}\"", 2, "a control character must be escaped"),
            ("\"a\tb\"", 2, "a control character must be escaped"),
            ("\"a\\n\tb\"", 4, "a control character must be escaped"),
            ("\"a\u{0}b\"", 2, "a control character must be escaped"),
            ("[1\u{0}]", 2, "a comma or ] is expected"),
            ("1\u{0}\u{0}", 0, "the text is not UTF-8"),
            (#""\x41""#, 2, "no such escape"),
            (#""\u12""#, 5, "four hexadecimal digits are expected"),
            (#""\u12G4""#, 5, "four hexadecimal digits are expected"),
            (#""\uD800""#, 7, "half of a surrogate pair"),
            (#""\uDC00""#, 7, "half of a surrogate pair"),
            (#""\uD800\u0041""#, 13, "half of a surrogate pair"),
            (#""\uD800x""#, 7, "half of a surrogate pair"),
            (#""\uD800\n""#, 7, "half of a surrogate pair"),
            ("01", 1, "a number must not begin with 0"),
            ("-01", 2, "a number must not begin with 0"),
            ("-", 1, "a digit is expected"),
            ("+1", 0, "no value begins like this"),
            (".5", 0, "no value begins like this"),
            ("1.", 2, "a digit is expected"),
            ("1.e1", 2, "a digit is expected"),
            ("1e", 2, "a digit is expected"),
            ("1e+", 3, "a digit is expected"),
            ("0x10", 1, "something follows the value"),
        ] as [(String, Int, String)])
    func refuses(text: String, offset: Int, problem: String) {
        expectRefusal(Array(text.utf8), at: offset, problem)
    }

    @Test(
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0x31], 0, "a byte-order mark is not allowed"),
            ([0xFF, 0xFE, 0x31, 0x00], 0, "the text is not UTF-8"),
            ([0xFE, 0xFF, 0x00, 0x31], 0, "the text is not UTF-8"),
            ([0x7B, 0x00, 0x7D, 0x00], 0, "the text is not UTF-8"),
            ([0x00, 0x7B, 0x00, 0x7D], 0, "the text is not UTF-8"),
            // Inside a string: a lone continuation, a cut sequence, overlong forms, a surrogate, beyond U+10FFFF.
            ([0x22, 0x80, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xC3, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xC3], 1, "the text is not UTF-8"),
            ([0x22, 0xE2, 0x82, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xC0, 0xAF, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xC1, 0xBF, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xE0, 0x80, 0xAF, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xF0, 0x80, 0x80, 0xAF, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], 1, "the text is not UTF-8"),
            ([0x22, 0x5C, 0x6E, 0x61, 0xFF, 0x22], 4, "the text is not UTF-8"),
            ([0x22, 0x5C, 0xC3, 0xA9, 0x22], 2, "no such escape"),
        ] as [([UInt8], Int, String)])
    func refuses(bytes: [UInt8], offset: Int, problem: String) {
        expectRefusal(bytes, at: offset, problem)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func refusesDeepNesting(opening: String) {
        let text = String(repeating: opening, count: 33)
        let error = #expect(throws: JSONError.self) { try JSONParser.parse(Array(text.utf8)) }
        #expect(error?.problem == "nested deeper than 32 levels")
    }

    @Test func refusesNestingThatWouldOverflowTheStack() {
        expectRefusal([UInt8](repeating: UInt8(ascii: "["), count: 1 << 20), at: 32, "nested deeper than 32 levels")
    }

    @Test func refusesATextThatIsTooLong() {
        let error = #expect(throws: JSONError.self) {
            try JSONParser.parse(Array("[1,2,3]".utf8), limits: JSONLimits(maximumBytes: 6))
        }
        #expect(error?.description == "more than 6 bytes at byte 6")
    }

    @Test(arguments: [1, 15, 16, 17, 40])
    func refusesADuplicateAmongMany(count: Int) {
        let members = (0..<count).map { "\"n\($0)\":0" }
        let text = "{" + (members + ["\"n\(count / 2)\":1"]).joined(separator: ",") + "}"
        let offset = members.joined(separator: ",").utf8.count + 2
        expectRefusal(Array(text.utf8), at: offset, "the name \"n\(count / 2)\" stands twice in one object")
    }

    @Test func refusesEveryBeginningOfAText() throws {
        let text = Array(#"{"a":[1.5e-3,true,null,"\u00e9\uD83C\uDFC6é"],"b":{"c":-0}}"#.utf8)
        _ = try JSONParser.parse(text)
        for count in text.indices {
            #expect(throws: JSONError.self) { try JSONParser.parse(Array(text[..<count])) }
        }
    }

    private func expectRefusal(
        _ bytes: [UInt8], at offset: Int, _ problem: String, location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: JSONError.self, sourceLocation: location) { try JSONParser.parse(bytes) }
        #expect(error?.offset == offset, sourceLocation: location)
        #expect(error?.problem == problem, sourceLocation: location)
    }
}
