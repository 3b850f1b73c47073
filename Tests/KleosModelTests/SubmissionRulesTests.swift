import KleosModel
import Testing

/// What is refused, with the field at fault, and what becomes of the rest.
@Suite struct SubmissionRulesTests {
    private static let game = Game(
        id: "demo", endpoints: ["home", "gone", "second"], allowedPlayers: ["ada", "bob"],
        leaderboards: [
            Leaderboard(id: "runs", minimum: ScoreValue(units: 1), maximum: ScoreValue(units: 100)),
            Leaderboard(id: "laps", order: .ascending, decimals: 2),
        ],
        achievements: [Achievement(id: "first-blood"), Achievement(id: "walker", steps: 10)])

    private static func score(
        _ value: String? = "7", on leaderboard: String? = "runs", player: String? = "ada"
    ) -> Submission {
        Submission(kind: .score, game: "demo", player: player, leaderboard: leaderboard, value: value)
    }

    private static func achievement(
        _ id: String? = "walker", progress: Int64? = nil, steps: Int64? = nil, increment: Int64? = nil
    ) -> Submission {
        Submission(
            kind: .achievement, game: "demo", player: "ada", achievement: id, progress: progress, steps: steps,
            increment: increment)
    }

    private static func changed(_ submission: Submission, _ change: (inout Submission) -> Void) -> Submission {
        var result = submission
        change(&result)
        return result
    }

    @Test(
        arguments: [
            (score("1"), .score(leaderboard: "runs", value: ScoreValue(units: 1))),
            (score("100"), .score(leaderboard: "runs", value: ScoreValue(units: 100))),
            (score("1.0e1"), .score(leaderboard: "runs", value: ScoreValue(units: 10))),
            (score("-12.5", on: "laps"), .score(leaderboard: "laps", value: ScoreValue(units: -1_250, decimals: 2))),
            (achievement(), .achievement(id: "walker", change: .progress(100))),
            (achievement(progress: 0), .achievement(id: "walker", change: .progress(0))),
            (achievement(progress: 100), .achievement(id: "walker", change: .progress(100))),
            (achievement(steps: 0), .achievement(id: "walker", change: .steps(0))),
            (achievement(steps: .max), .achievement(id: "walker", change: .steps(.max))),
            (achievement(increment: 1), .achievement(id: "walker", change: .increment(1))),
        ] as [(Submission, Subject)])
    func accepts(submission: Submission, subject: Subject) throws {
        let resolved = try SubmissionRules.resolve(submission, in: Self.game)
        #expect(resolved.subject == subject)
        #expect(resolved.player == "ada")
    }

    @Test(
        arguments: [
            (score(player: nil), .playerRequired, "player"), (score(player: "eve"), .playerNotAllowed, "player"),
            (score(player: ""), .invalidParameter, "player"), (score(player: "a\u{0}"), .invalidParameter, "player"),
            (score(player: String(repeating: "é", count: 65)), .tooLarge, "player"),
            (changed(score()) { $0.clientID = "" }, .invalidParameter, "id"),
            (changed(score()) { $0.clientID = "\u{0}" }, .invalidParameter, "id"),
            (changed(score()) { $0.clientID = String(repeating: "x", count: 129) }, .tooLarge, "id"),
            (changed(score()) { $0.metadata = Array(repeating: 0x20, count: 4_097) }, .tooLarge, "metadata"),
            (score(on: nil), .invalidParameter, "leaderboard"), (score(on: "rums"), .unknownLeaderboard, "leaderboard"),
            (score(nil), .invalidParameter, "value"), (score("seven"), .invalidValue, "value"),
            (score("7.5"), .invalidValue, "value"), (score("0"), .invalidValue, "value"),
            (score("101"), .invalidValue, "value"), (score("9223372036854775808"), .invalidValue, "value"),
            (score("1.005", on: "laps"), .invalidValue, "value"),
            (changed(score()) { $0.achievement = "walker" }, .invalidParameter, "achievement"),
            (changed(score()) { $0.progress = 1 }, .invalidParameter, "progress"),
            (changed(score()) { $0.steps = 1 }, .invalidParameter, "steps"),
            (changed(score()) { $0.increment = 1 }, .invalidParameter, "increment"),
            (achievement(nil), .invalidParameter, "achievement"),
            (achievement("walkr"), .unknownAchievement, "achievement"),
            (changed(achievement()) { $0.leaderboard = "runs" }, .invalidParameter, "leaderboard"),
            (changed(achievement()) { $0.value = "1" }, .invalidParameter, "value"),
            (achievement(progress: -1), .invalidValue, "progress"),
            (achievement(progress: 101), .invalidValue, "progress"),
            (achievement(steps: -1), .invalidValue, "steps"),
            (achievement(increment: 0), .invalidValue, "increment"),
            (achievement(progress: 1, steps: 1), .invalidParameter, "progress"),
            (achievement(steps: 1, increment: 1), .invalidParameter, "progress"),
        ] as [(Submission, RejectionReason, String)])
    func refuses(submission: Submission, reason: RejectionReason, field: String) {
        let rejection = #expect(throws: Rejection.self) { try SubmissionRules.resolve(submission, in: Self.game) }
        #expect(rejection?.reason == reason)
        #expect(rejection?.field == field)
        #expect(rejection?.message.isEmpty == false)
    }

    @Test func namesWhatWasMeant() {
        let board = #expect(throws: Rejection.self) {
            try SubmissionRules.resolve(Self.score(on: "rums"), in: Self.game)
        }
        #expect(board?.message.contains("did you mean runs?") == true)
        let achievement = #expect(throws: Rejection.self) {
            try SubmissionRules.resolve(Self.achievement("walkr"), in: Self.game)
        }
        #expect(achievement?.message.contains("did you mean walker?") == true)
    }

    @Test func limitsAreTheLastThatIsAllowed() throws {
        var game = Self.game
        game.allowedPlayers = nil
        var submission = Self.score(player: String(repeating: "é", count: 64))
        submission.clientID = String(repeating: "x", count: 128)
        submission.metadata = Array(repeating: 0x20, count: 4_096)
        #expect(try SubmissionRules.resolve(submission, in: game).player.utf8.count == 128)
    }

    @Test func theGamesOwnPlayerStandsIn() throws {
        var game = Self.game
        game.player = "bob"
        #expect(try SubmissionRules.resolve(Self.score(player: nil), in: game).player == "bob")
        #expect(try SubmissionRules.resolve(Self.score(), in: game).player == "ada")
    }
}
