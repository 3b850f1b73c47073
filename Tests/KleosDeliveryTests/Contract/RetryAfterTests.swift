import KleosDelivery
import Testing

struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let date: Int64 = 784_111_777_000

    @Test(
        arguments: [
            ("0", 0), ("7", 7_000), (" 7\t", 7_000), ("86400", 86_400_000), ("86401", 86_400_000),
            ("99999999999999999999999999", 86_400_000), ("Sun, 06 Nov 1994 08:49:37 GMT", 60_000),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 60_000), ("Sun Nov  6 08:49:37 1994", 60_000),
            ("Sun Nov 16 08:49:37 1994", 86_400_000), ("Sunday, 06-Nov-93 08:49:37 GMT", 0),
            ("Sunday, 06-Nov-60 08:49:37 GMT", 0), ("5\n60\nsoon", 60_000),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("Fri, 06 Nov 2093 08:00:00 GMT", 86_400_000),
        ] as [(String, Int64)])
    func secondsAndDatesAreClamped(_ text: String, _ expected: Int64) {
        #expect(RetryAfter.milliseconds(text, nowMilliseconds: Self.date - 60_000) == expected)
    }

    @Test(arguments: [
        "", " ", "-5", "+5", "1.5", "soon", "1 2", "٣", "5s", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06-Nov-9 08:49:37 GMT", "Sun Nov  6 08:49:37 94", "1, 2", "\n",
        "Sun Nov  6 1994 08:49:37", "Sunday, 06-11-94 08:49:37 GMT",
    ])
    func whatIsNeitherIsNothing(_ text: String) {
        #expect(RetryAfter.milliseconds(text, nowMilliseconds: Self.date) == nil)
    }
}
