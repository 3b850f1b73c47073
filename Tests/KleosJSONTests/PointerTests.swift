import KleosJSON
import Testing

/// RFC 6901.
@Suite struct PointerTests {
    /// The document of the RFC's section 5.
    private static let document: JSONValue = [
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8,
    ]

    @Test(
        arguments: [
            ("", document), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/foo/1", "baz"), ("/", 0), ("/a~1b", 1),
            ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ("/k\"l", 6), ("/ ", 7), ("/m~0n", 8),
        ] as [(String, JSONValue)])
    func leads(pointer: String, value: JSONValue) throws {
        let pointer = try #require(JSONPointer(pointer))
        #expect(pointer.value(in: Self.document) == value)
    }

    @Test(arguments: [
        "/foo/2", "/foo/-", "/foo/-1", "/foo/01", "/foo/+1", "/foo/", "/foo/x", "/foo/0/bar", "/bar", "//", "/a/b",
        "/foo/99999999999999999999", "/FOO",
    ])
    func leadsNowhere(pointer: String) throws {
        let pointer = try #require(JSONPointer(pointer))
        #expect(pointer.value(in: Self.document) == nil)
    }

    @Test(arguments: ["foo", "#/foo", " /foo", "/a~", "/a~2b", "/~/a"])
    func isNoPointer(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test func unescapesOnceOnly() throws {
        let pointer = try #require(JSONPointer("/~01"))
        #expect(pointer.value(in: ["~1": 1, "/": 2]) == 1)
        #expect(pointer.description == "/~01")
    }

    @Test func splitsByCodePoint() throws {
        let pointer = try #require(JSONPointer("/a/\u{301}b"))
        #expect(pointer.value(in: ["a": ["\u{301}b": 1]]) == 1)
    }
}
