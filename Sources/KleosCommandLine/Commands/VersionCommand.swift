import KleosClient
import KleosJSON
import KleosWire

/// `kleos version`.
enum VersionCommand {
    static let text = "kleos \(ProtocolVersion.program)"

    static let specification = CommandSpecification(
        ["version"], "Show the versions of kleos and of the daemon",
        run: { _, session throws(CommandFailure) in
            let daemon = daemon(session)
            if session.isJSON {
                var object = JSONObject()
                object["version"] = .string(ProtocolVersion.program)
                object["protocol"] = .integer(ProtocolVersion.number)
                object["daemon"] = daemon?.json
                session.json(.object(object))
            } else {
                session.line(text)
                if let daemon {
                    session.line(
                        Printable.text(
                            "\(daemon.server) \(daemon.version), protocol \(daemon.protocolNumber)"))
                } else {
                    session.line("no daemon answers")
                }
            }
            return .success
        })

    private static func daemon(_ session: Session) -> HelloAnswer? {
        // Asking for a version must work on a machine where no daemon runs.
        guard let result = try? session.request(.hello) else { return nil }
        return HelloAnswer(json: result)
    }
}
