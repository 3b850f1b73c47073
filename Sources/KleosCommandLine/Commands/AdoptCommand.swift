import KleosJSON
import KleosModel
import KleosWire

/// `kleos adopt`.
enum AdoptCommand {
    static let specification = CommandSpecification(
        ["adopt"], "Take over a queue that came from another machine",
        details: [
            "A queue that was copied together with its machine, as with a disk image, is held as a clone, lest both "
                + "machines send the same. This says that this machine takes the other one's place: what is held goes on. "
                + "kleos reset says the opposite."
        ],
        examples: [CommandExample("kleos adopt", "The other machine is gone, and this one goes on.")],
        run: { _, session throws(CommandFailure) in
            let result = try session.request(.adopt)
            if session.isJSON {
                session.json(result)
            } else {
                let count = Int(clamping: result["changed"]?.int64Value ?? 0)
                session.line(
                    "the queue is this machine's; \(Counted.text(count, "delivery goes on", "deliveries go on"))")
            }
            return .success
        })
}
