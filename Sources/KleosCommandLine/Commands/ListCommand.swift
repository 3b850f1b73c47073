import KleosJSON
import KleosModel
import KleosWire

/// `kleos list`.
enum ListCommand {
    static let specification = CommandSpecification(
        ["list"], "List deliveries, newest first",
        details: [
            "A delivery is one event on its way to one endpoint. KEY is the end of the event's key, which other "
                + "commands take in its place. Operators see everybody's. Everyone else sees their own, as does an "
                + "operator who names the socket for games with --socket."
        ],
        options: CommonOptions.criteria + [
            OptionSpecification("limit", "COUNT", "At most so many, 1 to 100000; by default 50."),
            OptionSpecification("all", nil, "All of them."),
        ],
        examples: [
            CommandExample("kleos list --state waiting,ready", "What is on its way."),
            CommandExample("kleos list --state dead --endpoint home --json", "What home refused, for a program."),
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let limit = invocation.has("all") ? Int.max : Int(try invocation.number("limit", in: 1...100_000) ?? 50)
        var parameters = ListParameters(criteria: CommonOptions.criteria(invocation))
        var rows: [DeliveryRow] = []
        var count = 0
        repeat {
            parameters.limit = min(ListParameters.maximumLimit, limit - count)
            let result = try session.request(.list, parameters.parameters, on: session.readingSocket())
            if session.isJSON {
                let elements = result["deliveries"]?.arrayValue ?? []
                for element in elements.prefix(limit - count) { session.json(element) }
                count += elements.count
            } else {
                rows += ListAnswer(json: result).rows
                count = rows.count
            }
            parameters.cursor = result["cursor"]?.stringValue
        } while parameters.cursor != nil && count < limit
        if !session.isJSON { show(Array(rows.prefix(limit)), hasMore: parameters.cursor != nil, session) }
        return .success
    }

    private static func show(_ rows: [DeliveryRow], hasMore: Bool, _ session: Session) {
        for line in table(rows, nowMilliseconds: session.nowMilliseconds).lines(palette: session.palette)
        where !rows.isEmpty {
            session.line(line)
        }
        var counts: [DeliveryState: Int] = [:]
        for row in rows { counts[row.state, default: 0] += 1 }
        if !rows.isEmpty { session.line() }
        session.line(DeliveryWords.summary(counts) + (hasMore ? " (there are more; --all lists them)" : ""))
    }

    static func table(_ rows: [DeliveryRow], nowMilliseconds now: Int64) -> Table {
        var table = Table(["KEY", "STATE", "GAME", "PLAYER", "WHAT", "ENDPOINT", ">ATTEMPTS", "AGE", "NEXT"])
        for row in rows {
            let state = row.reason.map { "\(row.state.rawValue) (\($0))" } ?? row.state.rawValue
            let isDue = row.state == .ready || row.state == .waiting
            let next = row.nextAttemptAtMilliseconds.map { AgeText.until(milliseconds: $0 - now) }
            table.add([
                Table.Cell(DeliveryWords.shortKey(row.key)), Table.Cell(state, DeliveryWords.style(row.state)),
                Table.Cell(row.game), Table.Cell(row.player), Table.Cell(DeliveryWords.what(row.subject)),
                Table.Cell(row.endpoint), Table.Cell(String(row.attempts)),
                Table.Cell(AgeText.ago(milliseconds: now - row.recordedAtMilliseconds)),
                Table.Cell(isDue ? next ?? "" : ""),
            ])
        }
        return table
    }
}
