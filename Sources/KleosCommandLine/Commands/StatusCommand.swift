import KleosJSON
import KleosModel
import KleosWire

/// `kleos status`.
enum StatusCommand {
    static let specification = CommandSpecification(
        ["status"], "Show how the daemon, its queue and its endpoints are",
        details: [
            "Where events are not taken or not delivered, each reason is said with what to do next.",
            "With --check it prints one line for monitoring, with performance data as Nagios and its like read it, and "
                + "exits with 0 where all is well, 1 for a warning and 2 where somebody is needed, also where no daemon "
                + "answers.",
        ],
        options: StatusCheck.options,
        examples: [
            CommandExample("kleos status", "A summary, each endpoint with its last success, and what is wrong."),
            CommandExample(
                "kleos status --check --warning-age 10min --critical-age 6h",
                "For monitoring that should complain earlier about what is not delivered."),
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        if invocation.has("check") { return try StatusCheck(invocation).run(session) }
        if let option = StatusCheck.options.first(where: { invocation.has($0.name) }) {
            throw .usage("--\(option.name) belongs to --check", hint: "kleos status --check --\(option.name) …")
        }
        let result = try session.request(.status)
        if session.isJSON {
            session.json(result)
        } else {
            for line in lines(StatusAnswer(json: result), session) { session.line(line) }
        }
        return .success
    }

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
        if status.forgottenEvents > 0 {
            lines.append("\(Counted.text(status.forgottenEvents, "event")) erased by kleos forget so far")
        }
        if status.removedDead > 0 {
            lines.append("\(Counted.text(status.removedDead, "dead event")) removed beyond MaximumDeadPerUser= so far")
        }
        if status.removedReceipts > 0 {
            lines.append("\(Counted.text(status.removedReceipts, "receipt")) removed early, to make room, so far")
        }
        if !status.machine.isKnown {
            lines.append(
                "this machine has no id of its own, so that a copy of its queue is not noticed (MachineIdentity=)")
        }
        if let spool = status.spool { lines += SpoolWords.lines(spool, now: now, palette: session.palette) }
        if !status.endpoints.isEmpty { lines.append("") }
        var table = Table(["ENDPOINT", "CONDITION", ">UNDELIVERED", ">DEAD", "OLDEST", "LAST SUCCESS", "NEXT PROBE"])
        for endpoint in status.endpoints { table.add(row(endpoint, now: now)) }
        if !table.isEmpty { lines += table.lines(palette: session.palette) }
        for finding in StatusDiagnosis.findings(status, nowMilliseconds: now) {
            let style: Style? = finding.level == .critical ? .bad : finding.level == .warning ? .warning : nil
            lines += ["", session.palette.apply(style, to: finding.text)]
            if let detail = finding.detail { lines.append("  \(detail)") }
            lines.append("  \(finding.advice)")
        }
        return lines
    }

    private static func storage(_ status: StatusAnswer) -> String {
        let used = ByteText.text(status.usedBytes)
        let limit = ByteText.text(status.limitBytes)
        return "Queue: \(Printable.text(status.path)), \(used) of \(limit) used, "
            + "\(ByteText.text(status.freeBytes)) free on the disk (at least \(ByteText.text(status.floorBytes)) stay)"
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
}
