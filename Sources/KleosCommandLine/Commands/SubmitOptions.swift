import KleosClient
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
            "occurred-at", "TIME",
            "When it happened: 2026-11-30T04:49:35Z, or milliseconds since 1970. By default now."),
        OptionSpecification("metadata", "JSON", "A JSON object that goes with the event."),
        timeout,
    ]

    /// How long to wait for the daemon.
    static let timeout = OptionSpecification(
        "timeout", "SECONDS", "Wait so long for the daemon's answer before the event is spooled; by default 10.")

    /// What the commands say of the spool.
    static let spoolDetails =
        "Where no daemon answers in time, or it cannot take anything now, the event is written to the daemon's spool "
        + "under the same id, and the command says \"spooled\" and where. It is then on disk, and the daemon takes it in "
        + "when it runs again; the exit code is 0. Where there is no spool, nothing is kept and the exit code is 69 or 75."

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
        } else {
            // No occurredAt: with a time of its own, a repetition under the same id would be another event.
            submission.takenOverAtMilliseconds = session.nowMilliseconds
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

    /// Hands over one event, or spools it, and says which.
    static func submit(
        _ submission: Submission, _ invocation: Invocation, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        let timeout = try timeoutMilliseconds(invocation)
        let spooling = Spooling(session)
        do throws(CommandFailure) {
            let connection = try session.connection(sendTimeoutMilliseconds: timeout)
            do throws(ConnectionError) {
                report(
                    try connection.request(.submit, submission.parameters, timeoutMilliseconds: timeout), session)
            } catch {
                let failure = DaemonFailure.failure(error)
                guard Spooling.isSilence(error) else { throw failure }
                try spooling.write(submission, silent: connection.path, because: failure)
            }
        } catch  where Spooling.isAbsence(error) {
            try spooling.write(submission, because: error)
        }
        return .success
    }

    /// The time that `--timeout` leaves, milliseconds. Throws a usage error.
    static func timeoutMilliseconds(_ invocation: Invocation) throws(CommandFailure) -> Int64 {
        (try invocation.number("timeout", in: 1...86_400) ?? 10) * 1_000
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
