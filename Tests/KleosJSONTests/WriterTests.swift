import KleosJSON
import Testing

/// What is written: one line, nothing escaped but what must be.
@Suite struct WriterTests {
    @Test(
        arguments: [
            (nil, "null"), (true, "true"), (false, "false"), (-5, "-5"), ("", #""""#), ([], "[]"), ([:], "{}"),
            ([1, [nil], ["a": "b"]], #"[1,[null],{"a":"b"}]"#),
            (["z": 1, "a": [:]], #"{"z":1,"a":{}}"#),
            ("\"\\/", #""\"\\/""#),
            ("\u{0}\u{1}\u{8}\u{C}\u{1F} \u{7F}", "\"\\u0000\\u0001\\u0008\\u000c\\u001f \u{7F}\""),
            ("a\nb\r\tc", #""a\nb\r\tc""#),
            ("é€🏆\u{2028}", "\"é€🏆\u{2028}\""),
            (["\"": 1], #"{"\"":1}"#),
            (["id": .raw(Array("{ \"a\": 1.50 }".utf8)), "b": 1], #"{"id":{ "a": 1.50 },"b":1}"#),
        ] as [(JSONValue, String)])
    func writes(value: JSONValue, text: String) {
        #expect(value.serialized == text)
    }

    @Test func integersOfEveryWidthAreExact() {
        #expect(JSONValue.integer(UInt64.max).serialized == "18446744073709551615")
        #expect(JSONValue.integer(Int64.min).serialized == "-9223372036854775808")
    }
}

/// Objects as values made by hand.
@Suite struct ObjectTests {
    @Test func setsReplacesAndRemovesMembers() {
        var object = JSONObject()
        #expect(object.isEmpty)
        object["a"] = 1
        object["b"] = 2
        object["a"] = 3
        #expect(object.names == ["a", "b"])
        #expect(object["a"] == 3)
        object["a"] = nil
        object["c"] = nil
        #expect(object.names == ["b"])
        object["b"] = .null
        #expect(object["b"]?.isNull == true)
    }

    @Test func ofALiteralTheLastOfANameCounts() {
        let value: JSONValue = ["a": 1, "a": 2]
        #expect(value == ["a": 2])
    }

    @Test func comparesNamesByteByByte() {
        var object = JSONObject()
        object["\u{E9}"] = 1
        #expect(object["e\u{301}"] == nil)
        object["e\u{301}"] = 2
        #expect(object.members.count == 2)
    }

    @Test func answersOnlyForItsOwnKind() {
        let value: JSONValue = ["text": "t", "flag": true, "list": [1], "number": 7]
        #expect(value["text"]?.stringValue == "t")
        #expect(value["flag"]?.boolValue == true)
        #expect(value["list"]?.arrayValue == [1])
        #expect(value["number"]?.int64Value == 7)
        #expect(value["number"]?.stringValue == nil)
        #expect(value["text"]?.arrayValue == nil)
        #expect(value["list"]?.objectValue == nil)
        #expect(value["list"]?["0"] == nil)
        #expect(value["absent"] == nil)
    }
}
