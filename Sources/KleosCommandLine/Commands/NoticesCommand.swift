import KleosClient
import KleosJSON
import KleosModel
import KleosWire

/// `kleos notices`.
enum NoticesCommand {
    static let specification = CommandSpecification(
        ["notices"], "List what there was and is to tell players",
        options: [
            OptionSpecification("game", "GAME", "Only this game's."),
            OptionSpecification("player", "PLAYER", "Only this player's."),
            OptionSpecification("pending", nil, "Only what nobody was shown yet."),
            OptionSpecification("limit", "COUNT", "At most so many, 1 to 500; by default 100."),
            OptionSpecification("follow", nil, "Print new ones as they come, until interrupted."),
        ],
        examples: [CommandExample("kleos notices --pending", "What still waits to be shown.")],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        var parameters = NoticesParameters(
            game: invocation.value("game"), player: invocation.value("player"),
            isPendingOnly: invocation.has("pending"), limit: Int(try invocation.number("limit", in: 1...500) ?? 100),
            locale: session.locale)
        if invocation.has("follow") { try subscribe(parameters, session) }
        var rows = try page(parameters, session)
        if !invocation.has("follow") {
            let more = rows.count == parameters.limit ? " (there may be more; --limit says how many to list)" : ""
            if !session.isJSON { session.line(Counted.text(rows.count, "notice") + more) }
            return .success
        }
        while true {
            parameters.after = rows.map(\.number).max() ?? parameters.after
            _ = try session.nextNotification()
            rows = try page(parameters, session)
        }
    }

    private static func subscribe(_ parameters: NoticesParameters, _ session: Session) throws(CommandFailure) {
        let topics = SubscribeParameters(topics: [.notices], game: parameters.game, player: parameters.player)
        _ = try session.request(.subscribe, topics.parameters)
    }

    private static func page(_ parameters: NoticesParameters, _ session: Session) throws(CommandFailure) -> [NoticeRow]
    {
        let result = try session.request(.notices, parameters.parameters)
        let rows = NoticesAnswer(json: result).notices
        if session.isJSON {
            for element in result["notices"]?.arrayValue ?? [] { session.json(element) }
        } else {
            for row in rows { show(row, session) }
        }
        return rows
    }

    private static func show(_ row: NoticeRow, _ session: Session) {
        let now = session.nowMilliseconds
        let shown = row.shownAtMilliseconds.map {
            "shown \(AgeText.ago(milliseconds: now - $0))\(row.route.map { " (\($0))" } ?? "")"
        }
        let head = "\(row.number)  \(Printable.text(row.title))"
        session.line(session.palette.apply(.heading, to: head))
        for line in row.body.split(separator: "\n") { session.line("    \(Printable.text(String(line)))") }
        let age = AgeText.ago(milliseconds: now - row.createdAtMilliseconds)
        session.line("    \(Printable.text(row.player)), \(age), \(Printable.text(shown ?? "not shown yet"))")
    }
}
