import KleosJSON
import KleosModel
import KleosWire

/// `kleos show`.
enum ShowCommand {
    static let specification = CommandSpecification(
        ["show"], "Show an event, its deliveries and each attempt's answer",
        arguments: [
            ArgumentSpecification(
                "KEY", "The event's key, or the end of it; with --id the id that the client gave it.")
        ],
        options: [
            OptionSpecification("id", nil, "KEY is the id that the client gave the event."),
            OptionSpecification("game", "GAME", "The event's game; needed with --id."),
        ],
        examples: [
            CommandExample("kleos show 89abcdef", "The event whose key ends so."),
            CommandExample("kleos show --id match-17 --game minesweeper", "The event that the game calls match-17."),
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let parameters: ShowParameters
        let socket = session.readingSocket()
        if invocation.has("id") {
            guard let game = invocation.value("game") else { throw .usage("--id needs --game GAME too") }
            parameters = .clientID(invocation.arguments[0], game: game)
        } else {
            let keys = try KeyResolver(session, on: socket).keys([invocation.arguments[0]])
            parameters = .key(keys[0])
        }
        let result = try session.request(.show, parameters.parameters, on: socket)
        if session.isJSON {
            session.json(result)
        } else {
            for line in lines(result, session) { session.line(line) }
        }
        return .success
    }

    static func lines(_ result: JSONValue, _ session: Session) -> [String] {
        let now = session.nowMilliseconds
        var lines = event(result["event"] ?? .null, now: now)
        for element in result["deliveries"]?.arrayValue ?? [] {
            guard let detail = DeliveryDetail(json: element) else { continue }
            lines.append("")
            lines += delivery(detail, session)
        }
        return lines
    }

    private static func event(_ event: JSONValue, now: Int64) -> [String] {
        var fields: [(String, String?)] = [("Event", event["key"]?.stringValue), ("Id", event["id"]?.stringValue)]
        fields.append(("Game", event["game"]?.stringValue))
        fields.append(("Player", event["player"]?.stringValue))
        fields.append((event["kind"]?.stringValue ?? "What", SubjectFields(json: event).map(DeliveryWords.what)))
        for (name, member) in [("Happened", "occurredAt"), ("Recorded", "recordedAt")] {
            fields.append((name, event.time(member).map { time($0, now: now) }))
        }
        if event["clockSynchronized"]?.boolValue == false { fields.append(("Clock", "was not synchronized")) }
        fields.append(("Metadata", event["metadata"]?.serialized))
        if let submitter = event["submitter"] {
            let parts = ["uid", "pid", "executable", "unit"].compactMap { name -> String? in
                guard let value = submitter[name] else { return nil }
                return "\(name) \(value.stringValue ?? value.serialized)"
            }
            fields.append(("By", parts.joined(separator: ", ")))
        }
        return Self.fields(fields, indent: 0)
    }

    private static func delivery(_ detail: DeliveryDetail, _ session: Session) -> [String] {
        let row = detail.row
        let now = session.nowMilliseconds
        let state = session.palette.apply(DeliveryWords.style(row.state), to: row.state.rawValue)
        let reason = row.reason.map { " (\(Printable.text($0)))" } ?? ""
        var lines = ["To \(Printable.text(row.endpoint)): \(state)\(reason)"]
        var fields: [(String, String?)] = [("Why", detail.message)]
        fields.append(("Settled", row.settledAtMilliseconds.map { time($0, now: now) }))
        if row.state == .ready || row.state == .waiting {
            fields.append(("Next try", row.nextAttemptAtMilliseconds.map { AgeText.until(milliseconds: $0 - now) }))
        }
        fields.append(("Replaced by", row.supersededBy?.description))
        if let confirmation = detail.confirmation {
            fields.append(("Confirmed", words(confirmation, kind: row.subject.kind)))
        }
        lines += Self.fields(fields, indent: 2)
        if row.attempts > detail.attempts.count {
            lines.append("  \(row.attempts) attempts, of which the first and the last are kept:")
        }
        return lines + detail.attempts.flatMap(attempt)
    }

    private static func news(_ changed: Bool, kind: SubjectKind) -> String {
        switch kind {
        case .score: changed ? "improved" : "no improvement"
        case .achievement: changed ? "new" : "known before"
        }
    }

    private static func words(_ confirmation: Confirmation, kind: SubjectKind) -> String {
        var parts: [String] = []
        if let rank = confirmation.rank { parts.append("rank \(rank)") }
        if let best = confirmation.best { parts.append("best \(best)") }
        if let changed = confirmation.changed { parts.append(news(changed, kind: kind)) }
        if let unlocked = confirmation.unlocked { parts.append(unlocked ? "unlocked" : "not unlocked yet") }
        return parts.isEmpty ? "yes" : parts.joined(separator: ", ")
    }

    private static func attempt(_ attempt: Attempt) -> [String] {
        let status = attempt.status.map { ", HTTP \($0)" } ?? ""
        let duration = AgeText.duration(milliseconds: attempt.durationMilliseconds)
        var lines = [
            "  #\(attempt.number)  \(Timestamp.text(milliseconds: attempt.startedMilliseconds))  "
                + "\(attempt.outcome.rawValue)\(status) after \(duration)"
        ]
        if let error = attempt.error { lines.append("      \(Printable.text(error))") }
        if let answer = attempt.answer, !answer.isEmpty { lines.append("      answer: \(Printable.text(answer))") }
        return lines
    }

    private static func time(_ milliseconds: Int64, now: Int64) -> String {
        "\(Timestamp.text(milliseconds: milliseconds)) (\(AgeText.ago(milliseconds: now - milliseconds)))"
    }

    private static func fields(_ fields: [(String, String?)], indent: Int) -> [String] {
        let present = fields.compactMap { name, value in
            value.map { (name.prefix(1).uppercased() + name.dropFirst(), $0) }
        }
        let width = present.map(\.0.count).max() ?? 0
        return present.map { name, value in
            let padding = String(repeating: " ", count: width - name.count)
            return String(repeating: " ", count: indent) + "\(name):\(padding) \(Printable.text(value))"
        }
    }
}
