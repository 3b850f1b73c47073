import KleosModel

/// `kleos submit score`.
enum SubmitScoreCommand {
    static let specification = CommandSpecification(
        ["submit", "score"], "Hand over a score",
        details: [
            "When the command returns, the score is on disk and will reach the leaderboard, however long that takes.",
            SubmitOptions.spoolDetails,
        ],
        arguments: [
            ArgumentSpecification("GAME", "The game's id."),
            ArgumentSpecification("LEADERBOARD", "The leaderboard's id."),
            ArgumentSpecification("VALUE", "A whole number, or a decimal one where the board has decimals."),
        ],
        options: SubmitOptions.all,
        examples: [
            CommandExample(
                "kleos submit score minesweeper beginner 12345 --player ada", "12.345 seconds on the Beginner board.")
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        var submission = Submission(kind: .score, game: invocation.arguments[0])
        submission.leaderboard = invocation.arguments[1]
        submission.value = invocation.arguments[2]
        try SubmitOptions.apply(invocation, to: &submission, session)
        return try SubmitOptions.submit(submission, invocation, session)
    }
}
