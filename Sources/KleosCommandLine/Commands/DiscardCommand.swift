import KleosModel
import KleosWire

/// `kleos discard`.
enum DiscardCommand {
    static let specification = CommandSpecification(
        ["discard"], "Throw deliveries away",
        details: [
            "They are never sent. On a terminal the command asks first; elsewhere it needs --yes. What is in flight is "
                + "thrown away only if its attempt fails."
        ],
        arguments: OperateSupport.arguments,
        options: OperateSupport.options + [OptionSpecification("yes", nil, "Do not ask.")],
        examples: [CommandExample("kleos discard --state dead --endpoint home", "Gives up what home refused.")],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let selection = try OperateSupport.selection(invocation, session)
        if !invocation.has("yes") {
            guard session.terminal.isInputTerminal else {
                throw .usage("discarding cannot be undone", hint: "add --yes to do it without being asked")
            }
            guard try session.confirms("Discard \(words(selection)) for good?") else {
                session.line("nothing is discarded")
                return .success
            }
        }
        return try OperateSupport.run(.discard, selection, done: "discarded", session)
    }

    private static func words(_ selection: OperateParameters) -> String {
        if !selection.keys.isEmpty { return "the deliveries of \(Counted.text(selection.keys.count, "event"))" }
        let criteria = selection.criteria
        var parts: [String] = []
        if !criteria.states.isEmpty { parts.append(criteria.states.map(\.rawValue).joined(separator: " or ")) }
        let named = [
            ("game", criteria.game), ("player", criteria.player), ("endpoint", criteria.endpoint),
            ("kind", criteria.kind?.rawValue), ("text", criteria.text),
        ]
        for (name, value) in named { if let value { parts.append("\(name) \(Printable.text(value))") } }
        return parts.isEmpty ? "ALL deliveries" : "all deliveries with \(parts.joined(separator: ", "))"
    }
}
