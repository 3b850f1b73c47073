import KleosJSON
import Testing

/// What the parser accepts, and what it makes of it.
@Suite struct ValidTextTests {
    @Test(
        arguments: [
            ("null", .null),
            ("true", true),
            (" \t\r\nfalse\n", false),
            ("0", 0),
            ("-1", -1),
            ("\"\"", ""),
            ("[]", []),
            ("[ ]", []),
            ("{}", [:]),
            ("{ }", [:]),
            ("[1,[2,[]],{\"a\":null}]", [1, [2, []], ["a": nil]]),
            ("{\"b\" : 1 , \"a\" : {\"b\":2}}", ["b": 1, "a": ["b": 2]]),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0041\u00e9\u20AC""#, "Aé€"),
            (#""\uD83C\uDFC6""#, "🏆"),
            ("\"é€🏆\u{10FFFF}\u{7F}\"", "é€🏆\u{10FFFF}\u{7F}"),
            (#""a\u0000b""#, "a\u{0}b"),
            (#""plain\nthen\u0020é""#, "plain\nthen é"),
            (#"{"":""}"#, ["": ""]),
        ] as [(String, JSONValue)])
    func accepts(text: String, value: JSONValue) throws {
        #expect(try JSONParser.parse(Array(text.utf8)) == value)
    }

    @Test func keepsTheOrderOfMembers() throws {
        let object = try #require(try parse(#"{"z":1,"a":2,"m":3}"#).objectValue)
        #expect(object.names == ["z", "a", "m"])
    }

    @Test func tellsWhereAMemberStands() throws {
        let text = #"{"id" : "x\u0041" ,"metadata":{ "a": [1.50, 2e1] } ,"n":-0.0}"#
        let object = try #require(try parse(text).objectValue)
        let sources = object.members.map { String(decoding: Array(text.utf8)[$0.sourceRange], as: UTF8.self) }
        #expect(sources == [#""x\u0041""#, #"{ "a": [1.50, 2e1] }"#, "-0.0"])
    }

    @Test func nestsAsDeepAsAllowed() throws {
        let deepest = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        _ = try parse(deepest)
        let besideEachOther = "[" + String(repeating: "[],", count: 100) + "[]]"
        #expect(try parse(besideEachOther).arrayValue?.count == 101)
    }

    @Test func takesATextOfExactlyTheLimit() throws {
        let limits = JSONLimits(maximumBytes: 4)
        #expect(try JSONParser.parse(Array("true".utf8), limits: limits) == true)
        #expect(throws: JSONError.self) { try JSONParser.parse(Array("true ".utf8), limits: limits) }
    }

    @Test func tellsDifferentSpellingsOfOneCharacterApart() throws {
        let object = try #require(try parse("{\"\u{E9}\":1,\"e\u{301}\":2}").objectValue)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
    }

    @Test func tellsNamesApartThatBeginOrEndAlike() throws {
        let names = [
            "", "n", "abcdefg", "abcdefgh", "abcdefgi", "hbcdefg", "abcdefg" + String(repeating: "x", count: 256),
            String(repeating: "abcdefg", count: 40) + "1",
        ]
        let text = names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",")
        let value = try parse("{\(text)}")
        for (number, name) in names.enumerated() { #expect(value[name] == .integer(number)) }
        for name in ["a", "abcdef", "abcdefj", "bbcdefgh", String(repeating: "abcdefg", count: 40) + "2"] {
            #expect(value[name] == nil)
        }
    }

    @Test func findsEachOfManyMembers() throws {
        let text = "{" + (0..<1_000).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + "}"
        let object = try #require(try parse(text).objectValue)
        #expect((0..<1_000).allSatisfy { object["n\($0)"] == .integer($0) })
    }

    private func parse(_ text: String) throws(JSONError) -> JSONValue {
        try JSONParser.parse(Array(text.utf8))
    }
}
