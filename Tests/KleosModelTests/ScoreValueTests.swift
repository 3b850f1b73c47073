import KleosModel
import KleosSupport
import Testing

/// Scores are read, compared and written exactly.
@Suite struct ScoreValueTests {
    @Test(
        arguments: [
            ("0", 0, 0), ("-0", 0, 0), ("8080", 0, 8080), ("8080.0", 0, 8080), ("8080.000", 0, 8080),
            ("8.08e3", 0, 8080), ("8.08E+3", 0, 8080), ("80800e-1", 0, 8080), ("-17", 0, -17),
            ("9223372036854775807", 0, .max), ("-9223372036854775808", 0, .min),
            ("9223372036854775807.0", 0, .max), ("9.223372036854775807e18", 0, .max),
            ("0e9999", 0, 0), ("0.000e-9999", 0, 0), ("0e-9999", 9, 0),
            ("12.5", 2, 1250), ("12.50", 2, 1250), ("12.5000", 2, 1250), ("12", 2, 1200), ("-0.01", 2, -1),
            ("1e-2", 2, 1), ("125e-1", 2, 1250), ("92233720368547758.07", 2, .max), ("-92233720368547758.08", 2, .min),
            ("0.000000001", 9, 1), ("9223372036.854775807", 9, .max),
        ] as [(String, Int, Int64)])
    func reads(text: String, decimals: Int, units: Int64) throws {
        let value = try ScoreValue(text: text, decimals: decimals)
        #expect(value.units == units)
        #expect(value.decimals == decimals)
    }

    @Test(
        arguments: [
            ("", 0, .notANumber), (" 1", 0, .notANumber), ("1 ", 0, .notANumber), ("+1", 0, .notANumber),
            ("01", 0, .notANumber), ("-01", 0, .notANumber), ("-", 0, .notANumber), ("1.", 0, .notANumber),
            (".5", 1, .notANumber), ("1e", 0, .notANumber), ("1e+", 0, .notANumber), ("0x10", 0, .notANumber),
            ("1,5", 1, .notANumber), ("1_000", 0, .notANumber), ("NaN", 0, .notANumber), ("inf", 0, .notANumber),
            ("٣", 0, .notANumber), ("1e99999", 0, .notANumber),
            ("0.5", 0, .tooManyDecimals), ("8080.01", 0, .tooManyDecimals), ("1e-1", 0, .tooManyDecimals),
            ("12.505", 2, .tooManyDecimals), ("1e-9999", 9, .tooManyDecimals),
            ("9223372036854775808", 0, .outOfRange), ("-9223372036854775809", 0, .outOfRange),
            ("1e19", 0, .outOfRange), ("1e400", 0, .outOfRange), ("-1e9999", 0, .outOfRange),
            ("92233720368547758.08", 2, .outOfRange), ("9223372036.854775808", 9, .outOfRange),
            ("1e18", 9, .outOfRange),
        ] as [(String, Int, ScoreValue.ParseError)])
    func refuses(text: String, decimals: Int, error: ScoreValue.ParseError) {
        #expect(throws: error) { try ScoreValue(text: text, decimals: decimals) }
    }

    @Test func readsTextsOfAtMost64Bytes() throws {
        let zeros = String(repeating: "0", count: 61)
        #expect(try ScoreValue(text: "7.0\(zeros)", decimals: 0).units == 7)
        #expect(throws: ScoreValue.ParseError.notANumber) { try ScoreValue(text: "7.00\(zeros)", decimals: 0) }
    }

    @Test(
        arguments: [
            (0, 0, "0"), (8080, 0, "8080"), (-17, 0, "-17"), (.max, 0, "9223372036854775807"),
            (.min, 0, "-9223372036854775808"), (0, 2, "0.00"), (5, 2, "0.05"), (-5, 2, "-0.05"), (1250, 2, "12.50"),
            (-1250, 2, "-12.50"), (1, 9, "0.000000001"), (.min, 9, "-9223372036.854775808"),
        ] as [(Int64, Int, String)])
    func writesAllItsDecimals(units: Int64, decimals: Int, text: String) {
        #expect(ScoreValue(units: units, decimals: decimals).description == text)
    }

    @Test(arguments: UInt64(0)..<20)
    func readsWhatItWrites(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let decimals = Int.random(in: 0...ScoreValue.maximumDecimals, using: &random)
            let units = Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0...63, using: &random)
            let value = ScoreValue(units: units, decimals: decimals)
            let read = try ScoreValue(text: value.description, decimals: decimals)
            #expect(read.units == units && read.decimals == decimals, "\(value)")
        }
    }

    @Test func comparesByValueWhateverTheDecimals() {
        let values = [
            ScoreValue(units: .min), ScoreValue(units: -1_250, decimals: 2), ScoreValue(units: -12),
            ScoreValue(units: 0, decimals: 9), ScoreValue(units: 1, decimals: 9), ScoreValue(units: 12),
            ScoreValue(units: 1_250, decimals: 2), ScoreValue(units: 13), ScoreValue(units: .max, decimals: 9),
            ScoreValue(units: .max, decimals: 1), ScoreValue(units: .max),
        ]
        for (index, value) in values.enumerated() {
            for (otherIndex, other) in values.enumerated() {
                #expect((value < other) == (index < otherIndex), "\(value) < \(other)")
                #expect((value == other) == (index == otherIndex), "\(value) == \(other)")
            }
        }
        #expect(ScoreValue(units: 12) == ScoreValue(units: 1_200, decimals: 2))
        #expect(Set([ScoreValue(units: 12), ScoreValue(units: 1_200, decimals: 2)]).count == 1)
    }
}
