import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// What the submit commands share.
enum SubmitOptions {
    static let all: [OptionSpecification] = [
        OptionSpecification("player", "PLAYER", "Who did it; by default the player that the game's file names."),
        OptionSpecification(
            "id", "ID", "Your own id for the event: a second one with the same id is a duplicate. By default a new one."
        ),
        OptionSpecification(
            "occurred-at", "TIME", "When it happened: 2026-11-30T04:49:35Z, or milliseconds since 1970."),
        OptionSpecification("metadata", "JSON", "A JSON object that goes with the event."),
    ]

    static func apply(
        _ invocation: Invocation, to submission: inout Submission, _ session: Session
    ) throws(CommandFailure) {
        submission.player = invocation.value("player")
        submission.clientID = invocation.value("id") ?? newID(session)
        if let text = invocation.value("occurred-at") {
            guard let time = Timestamp.milliseconds(text: text) ?? Int64(text) else {
                throw .usage("--occurred-at needs a time like 2026-11-30T04:49:35Z, not \(text)")
            }
            submission.occurredAtMilliseconds = time
        }
        if let text = invocation.value("metadata") { submission.metadata = try metadata(text) }
    }

    /// A fresh id: sent again under it, an event counts once.
    static func newID(_ session: Session) -> String {
        var random = SeededGenerator.unpredictable()
        return EventKey.version7(wallMilliseconds: session.nowMilliseconds, random: &random).description
    }

    private static func metadata(_ text: String) throws(CommandFailure) -> [UInt8] {
        do throws(JSONError) {
            let value = try JSONParser.parse(Array(text.utf8))
            // Written anew, so that it is on one line whatever was typed.
            if case .object = value { return value.serializedBytes }
        } catch {
            throw .usage("--metadata is no JSON: \(error)")
        }
        throw .usage("--metadata must be a JSON object, like {\"level\":3}")
    }

    static func submit(_ submission: Submission, _ session: Session) throws(CommandFailure) -> ExitCode {
        report(try session.request(.submit, submission.parameters), session)
        return .success
    }

    static func report(_ result: JSONValue, _ session: Session) {
        if session.isJSON { return session.json(result) }
        guard let answer = SubmitAnswer(json: result) else { return session.line(result.serialized) }
        if !answer.ignored.isEmpty {
            session.warn("the daemon does not know \(Counted.list(answer.ignored)), and left it out")
        }
        let key = Printable.text(answer.key.description)
        if answer.isSuperseded {
            session.line("superseded \(key): a better one is on its way or there already")
        } else {
            session.line(answer.isDuplicate ? "accepted before \(key)" : "accepted \(key)")
        }
    }
}
