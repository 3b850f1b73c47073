import KleosModel
import KleosSupport
import Testing

/// `Retry-After` in every odd form, with what it does to the delivery.
@Suite(.timeLimit(.minutes(30))) struct RetryAfterFaultTests {
    private static let day: Int64 = 86_400_000

    private static func busy(_ fields: [String], status: String = "429 Too Many Requests") -> RawServer.Reply {
        .answer(.http(status, fields))
    }

    /// A wait of so many seconds, and at most a tenth or one second more.
    private static func waits(_ seconds: Int64) -> EndpointFault.Fate {
        let milliseconds = seconds * 1000
        // The clock ticks between the answer and the decision; a date has whole seconds.
        return .waits(.throttled, milliseconds - 2_000..<milliseconds + max(1_000, milliseconds / 10) + 20_000)
    }

    private static func dates(_ seconds: Int64) -> [(form: String, text: String)] {
        let date = HTTPDate(milliseconds: SystemClock().read().wallMilliseconds + seconds * 1000)
        return [("of RFC 1123", date.fixed), ("of RFC 850", date.long), ("of asctime", date.ascii)]
    }

    private static let wishes: [EndpointFault] =
        [("3600", 3_600), ("  60\t", 60), ("007", 7), ("86401", 86_400), ("99999999999999999999999", 86_400)].map {
            EndpointFault("seconds: \($0.0)", busy(["Retry-After: \($0.0)"]), waits(Int64($0.1)), "429")
        }
        + dates(600).map {
            EndpointFault("a date \($0.form)", busy(["Retry-After: \($0.text)"]), waits(600), "429")
        }
        + dates(400 * 86_400).map {
            EndpointFault("a year ahead, \($0.form)", busy(["Retry-After: \($0.text)"]), waits(86_400), "429")
        }
        + [
            EndpointFault("two, rising", busy(["Retry-After: 5", "Retry-After: 500"]), waits(500), "429"),
            EndpointFault("two, falling", busy(["retry-after: 500", "RETRY-AFTER: 5"]), waits(500), "429"),
            EndpointFault("two, one of them odd", busy(["Retry-After: 500", "Retry-After: soon"]), waits(500), "429"),
            EndpointFault(
                "with 503", busy(["Retry-After: 120"], status: "503 Service Unavailable"), waits(120), "503"),
        ]

    private static let others: [EndpointFault] =
        ([
            "", " ", "0", "000", "-5", "-0", "+5", "1.5", "0.5", "1e3", "0x10", "5s", "5;", "1, 2", "soon", "never",
            "٣", "Sun, 06 Nov", "Sun, 06 Foo 2094 08:49:37 GMT", "2094-11-06T08:49:37Z",
            String(repeating: "9", count: 10_240), String(repeating: "soon ", count: 2_048),
        ] + dates(-600).map(\.text)).map {
            EndpointFault(
                "429 with \($0.debugDescription.prefix(40))", busy(["Retry-After: \($0)"]), .repeated(.throttled), "429"
            )
        }
        + ["0", "-5", "soon", dates(-600)[0].text].map {
            EndpointFault(
                "503 with \($0)", busy(["Retry-After: \($0)"], status: "503 Service Unavailable"), .repeated(.retry),
                "503")
        }

    @Test func whatNamesATimeAheadIsHonoured() throws { try FaultBench.play("forms of Retry-After", Self.wishes) }

    @Test func whatNamesNoneCountsAsNone() throws {
        try FaultBench.play("forms of Retry-After without a time", Self.others)
    }
}

/// A point in time in the three forms of RFC 9110.
struct HTTPDate {
    let fixed: String
    let long: String
    let ascii: String

    init(milliseconds: Int64) {
        // 2026-11-30T05:00:00.000Z
        let text = Timestamp.text(milliseconds: milliseconds)
        let (year, day, time) = (text.prefix(4), text.dropFirst(8).prefix(2), text.dropFirst(11).prefix(8))
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = months[(Int(text.dropFirst(5).prefix(2)) ?? 1) - 1]
        // The first day of the Unix era was a Thursday.
        let names = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
        let name = names[Int(milliseconds / 86_400_000 % 7)]
        fixed = "\(name.prefix(3)), \(day) \(month) \(year) \(time) GMT"
        long = "\(name), \(day)-\(month)-\(year.suffix(2)) \(time) GMT"
        ascii = "\(name.prefix(3)) \(month) \(day.hasPrefix("0") ? " \(day.suffix(1))" : String(day)) \(time) \(year)"
    }
}
