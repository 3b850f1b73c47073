import KleosJSON
import KleosModel
import KleosWire

/// `kleos reset`.
enum ResetCommand {
    static let specification = CommandSpecification(
        ["reset"], "Throw away what another machine sends, in a queue copied from it",
        details: [
            "For the copy of a machine that goes on itself: what was under way, held or dead when the queue was copied is "
                + "discarded here, because the other machine sends it or has its operator to decide about it; and its "
                + "notices are not shown here. What was submitted here since stays, and what was delivered stays visible. "
                + "It asks first on a terminal; elsewhere it needs --yes. kleos adopt says the opposite."
        ],
        options: [OptionSpecification("yes", nil, "Do not ask.")],
        examples: [CommandExample("kleos reset --yes", "In the first start of a machine made from an image.")],
        run: { invocation, session throws(CommandFailure) in
            let question = "Discard what the machine that this queue was copied from sends?"
            guard try session.confirmsForGood(question, "discarding", invocation) else {
                session.line("nothing is discarded")
                return .success
            }
            let result = try session.request(.reset)
            if session.isJSON {
                session.json(result)
            } else {
                let count = Int(clamping: result["changed"]?.int64Value ?? 0)
                session.line(
                    "the queue is this machine's; \(Counted.text(count, "delivery", "deliveries")) of the other one "
                        + "discarded")
            }
            return .success
        })
}
