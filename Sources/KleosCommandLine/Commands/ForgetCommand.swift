import KleosModel
import KleosWire

/// `kleos forget`.
enum ForgetCommand {
    static let specification = CommandSpecification(
        ["forget"], "Erase a player's events and all that is known of the player",
        details: [
            "Events, deliveries, receipts, notices, standings and sign-ins go and are overwritten in the queue's file; a "
                + "count stays. What is in flight goes when it settles, which the command waits for. It cannot be undone, "
                + "and asks first on a terminal; elsewhere it needs --yes.",
            "Events that wait in the spool, or were rejected there, go as well and are counted. Files in which something of the "
                + "player may be left, because they are no events or cannot be read, are named for you to look at.",
            "What services have stays there. Backups and queues that were set aside are not changed: the command names "
                + "them, so that you can remove them.",
        ],
        arguments: [ArgumentSpecification("PLAYER", "The player, exactly as submitted.")],
        options: [
            OptionSpecification("game", "GAME", "Only what belongs to this game; sign-ins stay then."),
            OptionSpecification("yes", nil, "Do not ask."),
        ],
        examples: [CommandExample("kleos forget ada --game minesweeper", "Nothing of ada's minesweeper stays here.")],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let player = invocation.arguments[0]
        let game = invocation.value("game")
        let what = game.map { " in the game \(Printable.text($0))" } ?? " in all games"
        guard
            try session.confirmsForGood(
                "Erase all events of the player \(Printable.text(player))\(what) for good?", "erasing", invocation)
        else {
            session.line("nothing is erased")
            return .success
        }
        let result = try session.requestShowingProgress(
            .forget, ForgetParameters(player: player, game: game).parameters, saying: "erasing")
        if session.isJSON {
            session.json(result)
            return .success
        }
        let answer = ForgetAnswer(json: result)
        session.line(
            "\(Counted.text(answer.events, "event")), \(Counted.text(answer.notices, "notice")), "
                + "\(Counted.text(answer.standings, "standing")) and \(Counted.text(answer.accounts, "sign-in")) erased"
        )
        if answer.spooled > 0 {
            session.line(
                "\(Counted.text(answer.spooled, "event")) of them waited in the spool, or had been rejected there")
        }
        if let trouble = answer.spoolTrouble {
            session.line("The spool was not looked into, or not to its end: \(Printable.text(trouble))")
        }
        if !answer.unclear.isEmpty {
            session.line("Look at these files of the spool yourself; something of the player may be in them:")
            for path in answer.unclear { session.line("  \(Printable.text(path))") }
        }
        if !answer.isRewritten {
            session.line("the queue is too large to be written anew; what was erased is overwritten in place")
        }
        if !answer.copies.isEmpty {
            session.line("These copies are as they were; remove those that are from before:")
            for path in answer.copies { session.line("  \(Printable.text(path))") }
        }
        return .success
    }
}

extension Session {
    /// Whether to go on with what cannot be undone: with --yes, or as somebody answers on a terminal. Throws where
    /// there is neither.
    func confirmsForGood(
        _ question: String, _ what: String, _ invocation: Invocation
    ) throws(CommandFailure) -> Bool {
        if invocation.has("yes") { return true }
        guard terminal.isInputTerminal else {
            throw .usage("\(what) cannot be undone", hint: "add --yes to do it without being asked")
        }
        return try confirms(question)
    }
}
