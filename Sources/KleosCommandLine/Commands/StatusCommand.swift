import KleosJSON
import KleosModel
import KleosWire

/// `kleos status`.
enum StatusCommand {
    static let specification = CommandSpecification(
        ["status"], "Show how the daemon, its queue and its endpoints are",
        examples: [CommandExample("kleos status", "A summary, and each endpoint with its last success.")],
        run: { _, session throws(CommandFailure) in
            let result = try session.request(.status)
            if session.isJSON {
                session.json(result)
            } else {
                for line in lines(StatusAnswer(json: result), session) { session.line(line) }
            }
            return .success
        })

    static func lines(_ status: StatusAnswer, _ session: Session) -> [String] {
        let now = session.nowMilliseconds
        var lines = ["kleosd \(status.version), up for \(AgeText.span(status.uptimeSeconds * 1_000))"]
        if let fault = status.fault {
            lines.append(
                session.palette.apply(.bad, to: "The configuration has errors; nothing is taken or sent:"))
            lines += fault.split(separator: "\n").map { "  \(Printable.text(String($0)))" }
            lines.append("  mend it, then kleos reload; kleos config check says whether it is well")
        }
        lines.append(DeliveryWords.summary(status.counts))
        if status.pendingNotices > 0 {
            lines.append("\(Counted.text(status.pendingNotices, "notice")) to tell")
        }
        lines.append(storage(status))
        lines += users(status)
        if let spool = status.spool { lines += SpoolWords.lines(spool, now: now, palette: session.palette) }
        if !status.isAccepting {
            let text = "New events are refused (queue-full): free disk space, or discard what is dead."
            lines.append(session.palette.apply(.bad, to: text))
        }
        if !status.endpoints.isEmpty { lines.append("") }
        var table = Table(["ENDPOINT", "CONDITION", ">UNDELIVERED", ">DEAD", "OLDEST", "LAST SUCCESS", "NEXT PROBE"])
        for endpoint in status.endpoints { table.add(row(endpoint, now: now)) }
        if !table.isEmpty { lines += table.lines(palette: session.palette) }
        lines += status.endpoints.filter { $0.condition != "up" }.flatMap { trouble($0, now: now) }
        return lines
    }

    private static func storage(_ status: StatusAnswer) -> String {
        let used = ByteText.text(status.usedBytes)
        let limit = ByteText.text(status.limitBytes)
        return "Queue: \(Printable.text(status.path)), \(used) of \(limit) used, "
            + "\(ByteText.text(status.freeBytes)) free on the disk (at least \(ByteText.text(status.floorBytes)) stay)"
    }

    /// Users whose events take a good part of what one user may take.
    private static func users(_ status: StatusAnswer) -> [String] {
        guard let limit = status.userLimitBytes else { return [] }
        return status.users.filter { $0.usedBytes >= limit / 2 }.map { user in
            let isFull = user.usedBytes >= limit ? "; new ones are refused" : ""
            return "The events of user \(user.uid) take \(ByteText.text(user.usedBytes)) of the "
                + "\(ByteText.text(limit)) that one user may take\(isFull)"
        }
    }

    private static func row(_ endpoint: EndpointRow, now: Int64) -> [Table.Cell] {
        let style: Style =
            switch endpoint.condition {
            case "up": .good
            case "paused": .warning
            default: .bad
            }
        func ago(_ time: Int64?) -> String { time.map { AgeText.ago(milliseconds: now - $0) } ?? "" }
        return [
            Table.Cell(endpoint.name), Table.Cell(endpoint.condition, style),
            Table.Cell(String(endpoint.undelivered)),
            Table.Cell(String(endpoint.dead), endpoint.dead > 0 ? .bad : nil),
            Table.Cell(ago(endpoint.oldestUndeliveredMilliseconds)),
            Table.Cell(endpoint.lastSuccessMilliseconds == nil ? "never" : ago(endpoint.lastSuccessMilliseconds)),
            Table.Cell(endpoint.nextProbeMilliseconds.map { AgeText.until(milliseconds: $0 - now) } ?? ""),
        ]
    }

    private static func trouble(_ endpoint: EndpointRow, now: Int64) -> [String] {
        let since = endpoint.sinceMilliseconds.map { " for \(AgeText.span(now - $0))" } ?? ""
        let reason = endpoint.reason.map { ": \($0)" } ?? ""
        var lines = [
            "", Printable.text("\(endpoint.name) (\(endpoint.url)) is \(endpoint.condition)\(since)\(reason)"),
        ]
        if let error = endpoint.lastError, error != endpoint.reason {
            lines.append("  last error: \(Printable.text(error))")
        }
        if endpoint.condition == "paused" {
            lines.append("  kleos resume \(Printable.text(endpoint.name)) lets it go on")
        }
        return lines
    }
}
