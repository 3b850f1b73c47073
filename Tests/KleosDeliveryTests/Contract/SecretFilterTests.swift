import KleosDelivery
import KleosModel
import KleosSupport
import Testing

/// The token in whatever spelling a service repeats it.
@Suite struct SecretFilterTests {
    static let token = "kL30s/T0ken+with.Marks_77"
    /// Enough of it to be recognized.
    static let half = "kL30"
    private let filter = SecretFilter(Secret(token))

    private static func each(_ spelling: (UInt8) -> String) -> String { token.utf8.map(spelling).joined() }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    static let spellings: [String] = [
        token,
        "Bearer \(token)",
        each { "\\u00\(hex($0))" },
        each { "\\u00\(hex($0).uppercased())" },
        token.replacing("/", with: "\\/"),
        each { "%\(hex($0))" },
        token.replacing("/", with: "%2F").replacing("+", with: "%2B"),
        each { "&#x\(hex($0));" },
        each { "&#\($0);" },
        each { "&#x\(hex($0))" } + ";",
        each(hex),
        each(hex).uppercased(),
        // A link in HTML in a string of JSON: three layers.
        each { "\\u0026#x\(hex($0));" },
        token.replacing("/", with: "%252F").replacing("+", with: "%252B"),
        token.replacing("/", with: "&#x25;2F"),
    ]

    @Test("S-03: every spelling of the token is taken out", arguments: spellings)
    func takesOutEverySpelling(spelling: String) {
        let cleaned = filter.clean("before \(spelling) after")
        #expect(cleaned.hasPrefix("before "))
        #expect(cleaned.hasSuffix("(secret) after"))
        #expect(!cleaned.contains("T0ken"))
        #expect(cleaned.utf8.count < 40)
    }

    @Test(
        "S-03: base64 is taken out wherever the token begins",
        arguments: ["", "u", "us", "user:", "Bearer ", "x-token: "])
    func takesOutBase64WhereverTheTokenBegins(prefix: String) throws {
        for alphabet in ["+/", "-_"] {
            let text = base64("\(prefix)\(Self.token)\n", lastDigits: alphabet)
            let cleaned = filter.clean("{\"seen\": \"\(text)\"}")
            #expect(cleaned.contains("(secret)"), "\(text): \(cleaned)")
            // What is left of the piece tells nothing of the token.
            #expect(cleaned.utf8.count <= 40 + prefix.utf8.count * 2, "\(cleaned)")
        }
    }

    private func base64(_ text: String, lastDigits: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastDigits)
        var result = ""
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
            for index in 0..<4 {
                result.append(index <= group.count ? digits[number >> (18 - 6 * index) & 63] : "=")
            }
        }
        return result
    }

    @Test func leavesOtherTextAlone() {
        let text = "100 % of \\u00e4 &amp; &#8364; and dG9rZW4= are no secret; \\ % & &#"
        #expect(filter.clean(text) == text)
        #expect(SecretFilter(nil).clean(Self.token) == Self.token)
        #expect(filter.clean("") == "")
    }

    @Test func takesOutEveryCopy() {
        #expect(filter.clean("\(Self.token)\(Self.token),\(Self.token)") == "(secret)(secret),(secret)")
    }

    @Test("S-03: a cut answer holds no half token", arguments: [10, 30, 1_000, 1_010, 1_023])
    func aCutAnswerHoldsNoHalfToken(offset: Int) {
        let body = String(repeating: "x", count: offset) + Self.token + String(repeating: "y", count: 70_000)
        let text = filter.beginning(of: Array(body.utf8), maximumBytes: 1_024)
        #expect(text.utf8.count <= 1_024)
        #expect(text.hasPrefix(String(repeating: "x", count: offset)))
        #expect(!text.contains(Self.half))
    }

    @Test func anAnswerOfNothingButTokensIsWithheld() {
        for extra in stride(from: 0, to: Self.token.utf8.count, by: 8) {
            let body = String(repeating: "z", count: extra) + String(repeating: Self.token, count: 5_000)
            let text = filter.beginning(of: Array(body.utf8), maximumBytes: 65_536)
            #expect(!text.contains(Self.half), "\(extra)")
        }
    }

    @Test func aReceiptEndsWithAWholeCharacter() {
        let body = String(repeating: "ä", count: 600)
        #expect(SecretFilter(nil).beginning(of: Array(body.utf8), maximumBytes: 1_023).utf8.count == 1_022)
    }

    @Test("S-03: no text of a verdict holds half a token") func noTextOfAVerdictHoldsHalfAToken() {
        // Every text is cut somewhere.
        let cuts = [80, 100, 128, 200, 500]
        for padding in [0] + cuts.flatMap({ cut in [1, 4, 12, 24].map { cut - $0 } }) {
            let message = String(repeating: "m", count: padding) + Self.token
            let bodies = [
                (400, #"{"error":{"code":"\#(message)","message":"\#(message)"}}"#), (302, "moved"), (200, "<html>"),
                (200, #"{"accepted":true,"best":"\#(message)"}"#),
            ]
            for (status, body) in bodies {
                let answer = TransportAnswer(
                    status: status, body: Array(body.utf8), contentType: message, location: "https://x/\(message)")
                let result = TransportResult(answer: .success(answer), didSendRequest: true, durationMilliseconds: 1)
                let verdict = OutcomeRules.judge(
                    result, hadUnansweredAttempt: false, nowMilliseconds: 0, filter: filter)
                let texts = [verdict.message, verdict.confirmation?.best].compactMap(\.self)
                #expect(!texts.isEmpty || padding > 100)
                #expect(!texts.contains { $0.contains(Self.half) }, "\(status) \(padding)")
            }
        }
    }
}
