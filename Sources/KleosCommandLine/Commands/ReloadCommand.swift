import KleosJSON
import KleosModel
import KleosWire

/// `kleos reload`.
enum ReloadCommand {
    static let specification = CommandSpecification(
        ["reload"], "Let the daemon read its configuration again",
        details: ["The new configuration is applied whole; if anything in it is wrong, the old one stays."],
        examples: [CommandExample("kleos config check && kleos reload", "Check first, then apply.")],
        run: { _, session throws(CommandFailure) in
            let result = try session.request(.reload)
            if session.isJSON {
                session.json(result)
                return .success
            }
            let changes = result["changes"]?.arrayValue ?? result["changed"]?.arrayValue ?? []
            for change in changes { session.line(Printable.text(change.stringValue ?? change.serialized)) }
            session.line(
                changes.isEmpty ? "the configuration is read" : "\(Counted.text(changes.count, "setting")) changed")
            return .success
        })
}
