import KleosJSON
import Testing

/// Numbers stay exactly what they were.
@Suite struct NumberTests {
    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0.0", 0), ("0e5", 0), ("0e-5", 0), ("0.000e999", 0),
            ("8080", 8_080), ("8080.0", 8_080), ("8.08e3", 8_080), ("8.08E+3", 8_080), ("808000e-2", 8_080),
            ("0.00808e6", 8_080), ("-8080.000", -8_080), ("-80.80e2", -8_080),
            ("9223372036854775807", .max), ("9223372036854775807.0", .max), ("922337203685477580700e-2", .max),
            ("-9223372036854775808", .min), ("-9223372036854775808.00", .min), ("1e18", 1_000_000_000_000_000_000),
            ("9007199254740993", 9_007_199_254_740_993), ("9007199254740993.0", 9_007_199_254_740_993),
        ] as [(String, Int64)])
    func isWhole(text: String, value: Int64) throws {
        #expect(try JSONParser.parse(Array(text.utf8)).int64Value == value)
    }

    @Test(arguments: [
        "0.5", "8080.1", "1e-1", "-0.0001", "9223372036854775808", "-9223372036854775809", "1e19", "1e400",
        "9223372036854775807.5", "92233720368547758070e-2", "1e-9223372036854775808", "1e9223372036854775807",
        "1e-9223372036854775809", "1e99999999999999999999999",
        "1.000000000000000000000000000000000000000000000000000000000000000000000000000000001",
    ])
    func isNoWholeNumberOf64Bits(text: String) throws {
        let value = try JSONParser.parse(Array(text.utf8))
        #expect(value.numberValue != nil)
        #expect(value.int64Value == nil)
    }

    @Test(arguments: [
        "0", "-0", "-0.0", "1.50", "1E400", "123456789012345678901234567890.123456789012345678901234567890", "1e-7",
    ])
    func isWrittenAsItCame(text: String) throws {
        #expect(try JSONParser.parse(Array(text.utf8)).serialized == text)
    }

    @Test func isAFloatingPointNumberToo() {
        #expect(JSONNumber(text: "1.5e2").double == 150)
        #expect(JSONNumber(text: "-0.25").double == -0.25)
    }

    @Test func strangersAreNoNumbers() {
        #expect(JSONValue.string("8080").int64Value == nil)
        #expect(JSONValue.bool(true).int64Value == nil)
    }
}
