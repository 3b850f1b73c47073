import KleosCommandLine
import Testing

@Suite("Ages")
struct AgeTextTests {
    @Test(
        arguments: [
            (0, "just now"), (999, "just now"), (-5_000, "just now"), (1_000, "1 second ago"),
            (59_999, "59 seconds ago"), (60_000, "1 minute ago"), (180_000, "3 minutes ago"),
            (3_600_000, "1 hour ago"), (86_399_999, "23 hours ago"), (86_400_000, "1 day ago"),
            (864_000_000, "10 days ago"),
        ])
    func agesAreSaidAsPeopleSayThem(milliseconds: Int64, expected: String) {
        #expect(AgeText.ago(milliseconds: milliseconds) == expected)
    }

    @Test(
        arguments: [
            (-1, "now"), (0, "now"), (1, "in 1 s"), (4_000, "in 4 s"), (119_000, "in 119 s"), (180_000, "in 3 min"),
            (7_200_000, "in 2 h"), (200_000_000, "in 2 d"),
        ])
    func whatIsDueIsShort(milliseconds: Int64, expected: String) {
        #expect(AgeText.until(milliseconds: milliseconds) == expected)
    }

    @Test(arguments: [(12, "12 ms"), (1_540, "1.5 s"), (120_000, "2 minutes")])
    func durations(milliseconds: Int64, expected: String) {
        #expect(AgeText.duration(milliseconds: milliseconds) == expected)
    }
}
