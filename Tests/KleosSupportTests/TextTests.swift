import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// What text from elsewhere may do to a terminal or a log.
@Suite struct TextTests {
    @Test(arguments: [
        ("plain é 🏆 日本", "plain é 🏆 日本"), ("", ""), ("a\nb", "a\\u{a}b"), ("\u{1B}[2J", "\\u{1b}[2J"),
        ("\u{9B}x\u{7F}", "\\u{9b}x\\u{7f}"), ("a\u{202E}b", "a\\u{202e}b"),
        ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
        ("\u{FEFF}x", "\\u{feff}x"), ("\u{E0041}", "\\u{e0041}"), ("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}"),
        // A family is joined by U+200D, which does nothing else.
        ("👨\u{200D}👩", "👨\u{200D}👩"), ("a\u{301}", "a\u{301}"),
    ])
    func escapes(text: String, shown: String) {
        #expect(HarmlessText.escaped(text) == shown)
    }

    @Test func escapesJSONInItsOwnSpelling() {
        #expect(HarmlessText.escaped(json: "{\"a\":\"\u{202E}\u{9B}\"}") == #"{"a":"\u202e\u009b"}"#)
        #expect(HarmlessText.escaped(json: "\"\u{E0041}\"") == #""\udb40\udc41""#)
        #expect(HarmlessText.escaped(json: "\"plain\"") == "\"plain\"")
    }

    private func lines(_ threshold: LogLevel, _ body: (Log) -> Void) -> [String] {
        let lines = Lines()
        body(Log(threshold: threshold) { level, line in lines.add("\(level.rawValue) \(line)") })
        return lines.all
    }

    @Test func aLogLineIsOneLineAndQuotesWhatHasToBe() {
        let found = lines(.info) { log in
            log(.notice, "a\nsentence", ["plain": "x", "empty": "", "spaced": "a b", "sign": "a=b", "quote": "a\"b"])
            log(.warning, "secret\u{1B}[1m", ["name": "a\nb"])
        }
        #expect(
            found == [
                #"5 a\u{a}sentence plain=x empty="" spaced="a b" sign="a=b" quote="a'b""#,
                #"4 secret\u{1b}[1m name=a\u{a}b"#,
            ])
    }

    @Test(arguments: LogLevel.allCases)
    func linesOfLessWeightAreDropped(threshold: LogLevel) {
        let found = lines(threshold) { log in for level in LogLevel.allCases { log(level, "\(level)") } }
        #expect(found == LogLevel.allCases.filter { $0.rawValue <= threshold.rawValue }.map { "\($0.rawValue) \($0)" })
        #expect(LogLevel(name: threshold.name) == threshold)
    }

    @Test func levelsAreOrderedByWeight() {
        #expect(LogLevel.error > .warning && LogLevel.debug < .info)
        #expect(LogLevel(name: "Error") == nil && LogLevel(name: "") == nil)
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }
}
