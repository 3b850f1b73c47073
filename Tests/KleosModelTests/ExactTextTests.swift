import KleosModel
import Testing

/// Players are opaque bytes: what looks the same is not the same player.
@Suite("Exact text")
struct ExactTextTests {
    private static let composed = "Ren\u{E9}"
    private static let decomposed = "Rene\u{301}"

    @Test("Two spellings of one character are two names")
    func spellings() {
        #expect(Self.composed == Self.decomposed)
        #expect(!ExactText.same(Self.composed, Self.decomposed))
        #expect(ExactText.same(Self.composed, Self.composed))
        #expect(!ExactText.contains([Self.composed], Self.decomposed))
    }

    @Test("A text is cut between code points, wherever its Characters end")
    func cuts() {
        #expect(ExactText.clipped("abc", maximumBytes: 3) == "abc")
        #expect(ExactText.clipped("abcd", maximumBytes: 3) == "abc")
        #expect(ExactText.clipped("a\u{E9}b", maximumBytes: 2) == "a")
        #expect(ExactText.clipped("\u{1F600}", maximumBytes: 3).isEmpty)
        let marks = "e" + String(repeating: "\u{301}", count: 10_000)
        #expect(marks.count == 1)
        #expect(ExactText.clipped(marks, maximumBytes: 100).utf8.count == 99)
    }

    @Test("Streams of two spellings are two streams")
    func streams() {
        func stream(_ player: String) -> StreamKey {
            StreamKey(endpoint: "home", game: "demo", player: player, kind: .score, item: "runs")
        }
        #expect(stream(Self.composed) != stream(Self.decomposed))
        #expect(Set([stream(Self.composed), stream(Self.decomposed)]).count == 2)
    }

    @Test("A game that allows one spelling refuses the other")
    func allowedPlayers() throws {
        let game = Game(
            id: "demo", allowedPlayers: [Self.composed], leaderboards: [Leaderboard(id: "runs")])
        let submission = Submission(
            kind: .score, game: "demo", player: Self.decomposed, leaderboard: "runs", value: "1")
        #expect(throws: Rejection.self) { try SubmissionRules.resolve(submission, in: game) }
    }
}
