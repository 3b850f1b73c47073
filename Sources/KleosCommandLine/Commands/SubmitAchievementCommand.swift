import KleosModel

/// `kleos submit achievement`.
enum SubmitAchievementCommand {
    static let specification = CommandSpecification(
        ["submit", "achievement"], "Hand over an achievement, or progress towards one",
        details: [
            "Without --progress, --steps or --increment the achievement is unlocked.", SubmitOptions.spoolDetails,
        ],
        arguments: [
            ArgumentSpecification("GAME", "The game's id."),
            ArgumentSpecification("ACHIEVEMENT", "The achievement's id."),
        ],
        options: [
            OptionSpecification("progress", "PERCENT", "So much of it is reached, 0 to 100."),
            OptionSpecification("steps", "COUNT", "So many of its steps are reached, counted from the start."),
            OptionSpecification("increment", "COUNT", "So many more of its steps are reached."),
        ] + SubmitOptions.all,
        examples: [
            CommandExample("kleos submit achievement minesweeper first-win", "Unlocked, for the game's own player."),
            CommandExample("kleos submit achievement minesweeper collector --steps 7", "Seven steps so far."),
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let amounts = ["progress", "steps", "increment"].filter(invocation.has)
        guard amounts.count <= 1 else {
            throw .usage("give only one of --progress, --steps and --increment")
        }
        var submission = Submission(kind: .achievement, game: invocation.arguments[0])
        submission.achievement = invocation.arguments[1]
        submission.progress = try invocation.number("progress", in: 0...100)
        submission.steps = try invocation.number("steps", in: 0...Int64.max)
        submission.increment = try invocation.number("increment", in: 1...Int64.max)
        try SubmitOptions.apply(invocation, to: &submission, session)
        return try SubmitOptions.submit(submission, invocation, session)
    }
}
