import KleosModel
import KleosSupport
import Testing

/// Times are read and written as RFC 3339.
@Suite struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00.000Z", 0), ("1970-01-01T00:00:00.001Z", 1), ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:30:45.678Z", 951_827_445_678), ("2026-11-30T04:49:35.123Z", 1_796_014_175_123),
            ("2024-02-29T00:00:00.000Z", 1_709_164_800_000), ("2024-03-01T00:00:00.000Z", 1_709_251_200_000),
            ("1900-02-28T23:59:59.999Z", -2_203_891_200_001), ("1900-03-01T00:00:00.000Z", -2_203_891_200_000),
            ("0000-01-01T00:00:00.000Z", -62_167_219_200_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)])
    func readsAndWrites(text: String, milliseconds: Int64) {
        #expect(Timestamp.milliseconds(text: text) == milliseconds)
        #expect(Timestamp.text(milliseconds: milliseconds) == text)
    }

    @Test(arguments: [
        "2026-11-30T04:49:35.5Z", "2026-11-30T04:49:35.500Z", "2026-11-30t04:49:35.5z", "2026-11-30 04:49:35.5Z",
        "2026-11-30T04:49:35.5009999999Z", "2026-11-30T04:49:35.5+00:00", "2026-11-30T04:49:35.5-00:00",
        "2026-11-30T05:49:35.5+01:00", "2026-11-30T10:19:35.5+05:30", "2026-11-29T20:49:35.5-08:00",
        "2026-12-01T04:48:35.5+23:59", "2026-11-29T04:50:35.5-23:59",
    ])
    func readsEverySpellingOfTheSameTime(text: String) {
        #expect(Timestamp.milliseconds(text: text) == 1_796_014_175_500)
    }

    @Test func countsALeapSecondAsTheNextMinute() {
        let leap = Timestamp.milliseconds(text: "2016-12-31T23:59:60Z")
        #expect(leap == 1_483_228_800_000)
        #expect(leap == Timestamp.milliseconds(text: "2017-01-01T00:00:00Z"))
    }

    @Test(arguments: [
        "", "2026", "2026-11-30", "2026-11-30T04:49Z", "2026-11-30T04:49:35", "2026-11-30T04:49:35.Z",
        "2026-11-30T04:49:35,5Z", "2026-11-30T04:49:35Zulu", " 2026-11-30T04:49:35Z", "2026-11-30T04:49:35Z ",
        "26-11-30T04:49:35Z", "+2026-11-30T04:49:35Z", "-026-11-30T04:49:35Z", "2026-1-30T04:49:35Z",
        "2026/11/30T04:49:35Z", "2026-11-30T4:49:35Z", "2026-00-10T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-00T00:00:00Z", "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2024-02-30T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T23:60:00Z", "2026-11-30T23:59:61Z",
        "2026-11-30T04:49:35+1:00", "2026-11-30T04:49:35+0100", "2026-11-30T04:49:35+24:00",
        "2026-11-30T04:49:35+01:60", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-00:01",
        "2026-11-30T04:49:35+01", "٢٠٢٦-11-30T04:49:35Z",
    ])
    func refuses(text: String) {
        #expect(Timestamp.milliseconds(text: text) == nil)
    }

    @Test(arguments: UInt64(0)..<20)
    func readsWhatItWrites(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let time = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random)
            let text = Timestamp.text(milliseconds: time)
            #expect(Timestamp.milliseconds(text: text) == time, "\(text)")
        }
    }

    @Test func everyDayOfFourCenturiesFollowsTheOneBefore() throws {
        let start: Int64 = 946_684_800_000
        var before = Timestamp.text(milliseconds: start)
        for day in 1...146_097 {
            let time = start + Int64(day) * 86_400_000
            let text = Timestamp.text(milliseconds: time)
            guard before < text, Timestamp.milliseconds(text: text) == time else {
                Issue.record("\(before), then \(text)")
                return
            }
            before = text
        }
        #expect(before == "2400-01-01T00:00:00.000Z")
    }
}
