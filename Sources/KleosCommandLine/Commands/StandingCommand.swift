import KleosJSON
import KleosModel
import KleosWire

/// `kleos standing`.
enum StandingCommand {
    static let specification = CommandSpecification(
        ["standing"], "Show a player's bests and progress, confirmed and pending",
        arguments: [ArgumentSpecification("GAME", "The game's id.")],
        options: [
            OptionSpecification(
                "player", "PLAYER", "Whose; by default the player that the game's file names, else all of your own."),
            OptionSpecification("leaderboard", "ID", "Only this leaderboard."),
            OptionSpecification("achievement", "ID", "Only this achievement."),
            OptionSpecification("endpoint", "ENDPOINT", "Only at this endpoint."),
        ],
        examples: [CommandExample("kleos standing minesweeper --player ada", "Everything that ada has reached.")],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let parameters = StandingParameters(
            game: invocation.arguments[0], player: invocation.value("player"),
            leaderboard: invocation.value("leaderboard"), achievement: invocation.value("achievement"),
            endpoint: invocation.value("endpoint"))
        let result = try session.request(.standing, parameters.parameters)
        if session.isJSON {
            for element in result["standings"]?.arrayValue ?? [] { session.json(element) }
            return .success
        }
        let elements = result["standings"]?.arrayValue ?? []
        var table = Table(["PLAYER", "WHAT", "ENDPOINT", ">CONFIRMED", ">RANK", ">PENDING", "SINCE"])
        for element in elements {
            if let standing = Standing(json: element) {
                table.add(row(standing, element, now: session.nowMilliseconds))
            }
        }
        if !table.isEmpty {
            for line in table.lines(palette: session.palette) { session.line(line) }
            session.line()
        }
        session.line(Counted.text(elements.count, "standing"))
        return .success
    }

    private static func row(_ standing: Standing, _ element: JSONValue, now: Int64) -> [Table.Cell] {
        func measure(_ mark: StandingMark?, _ name: String) -> String {
            mark.map { DeliveryWords.measure($0.measure, display: element[name]?["display"]?.stringValue) } ?? ""
        }
        let latest = standing.pending ?? standing.confirmed
        return [
            Table.Cell(standing.stream.player), Table.Cell(standing.stream.item),
            Table.Cell(standing.stream.endpoint),
            Table.Cell(measure(standing.confirmed, "confirmed"), .good),
            Table.Cell(standing.confirmed?.rank.map(String.init) ?? ""),
            Table.Cell(measure(standing.pending, "pending"), .working),
            Table.Cell(latest.map { AgeText.ago(milliseconds: now - $0.atMilliseconds) } ?? ""),
        ]
    }
}
