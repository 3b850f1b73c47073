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
