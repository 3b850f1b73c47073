package import KleosSupport

/// What the command line of `kleos-minesweeper` says, for its help and its page of the manual.
package enum MinesweeperUsage {
    package static let usage = ProgramUsage(
        name: "kleos-minesweeper", summary: "Mission: Minesweeper, the sample game of kleos",
        forms: [
            ProgramUsage.Row("kleos-minesweeper [OPTIONS]", "play in the terminal"),
            ProgramUsage.Row("kleos-minesweeper --auto GAMES [OPTIONS]", "let the computer play"),
        ],
        introduction:
            "Times of won games go to the leaderboards, achievements where a game earned them. The game first asks kleos "
            + "what the player has already, so that nothing is awarded twice. It never waits for kleos: what it earned "
            + "shows as being saved, saved, and confirmed by the service.",
        groups: [ProgramUsage.Group("Options", options)],
        notes: [
            ProgramUsage.Row(
                "Keys",
                "Arrows or h j k l move, space or enter opens (and on a number with all its flags, all around it), f "
                    + "flags, c opens around a number, r begins anew, 1 2 3 choose the level, a shows the achievements, "
                    + "q quits. NO_COLOR is honoured.")
        ],
        exitCodes: [
            ProgramUsage.Code(0, "everything acknowledged"),
            ProgramUsage.Code(64, "wrong options, or no terminal to play in"),
            ProgramUsage.Code(65, "a submission was refused"), ProgramUsage.Code(69, "no daemon (--auto)"),
            ProgramUsage.Code(71, "the terminal failed"), ProgramUsage.Code(128, "and the signal's number at a signal"),
        ])

    private static let options = [
        ProgramUsage.Row(
            "--auto GAMES",
            "let the computer play so many games; it reasons where it can and guesses where it must"),
        ProgramUsage.Row("--events N", "let it play until it has handed over N submissions"),
        ProgramUsage.Row(
            "--level LEVEL", "beginner, intermediate, advanced; for the computer also mix, the default"),
        ProgramUsage.Row("--player NAME", "the player; by default $USER"),
        ProgramUsage.Row("--seed NUMBER", "play the same fields again"),
        ProgramUsage.Row("--socket PATH", "the daemon's socket, where it is not at one of the usual places"),
        ProgramUsage.Row("--wait SECONDS", "how long to wait for the daemon (10)"),
        ProgramUsage.Row("--show", "draw the last field"),
        ProgramUsage.Row("--json", "print one JSON object for each acknowledged submission, nothing else"),
        ProgramUsage.Row("--quiet", "print the summary only"),
        ProgramUsage.Row("--help", "print this text"),
        ProgramUsage.Row("--version", "print the version"),
    ]
}
