import Glibc
import KleosClient
import KleosJSON
import KleosModel
import KleosWire

/// What the submit commands do when no daemon answers.
struct Spooling {
    private let session: Session

    init(_ session: Session) {
        self.session = session
    }

    /// Whether nothing was heard of the daemon, so that nobody knows whether it has the event, or it said that it takes
    /// none until its administrator has done something.
    static func isSilence(_ error: ConnectionError) -> Bool {
        switch error {
        case .closed, .timedOut, .noDaemon: true
        case .refused(let error): error.knownReason == .unavailable
        case .malformed: false
        }
    }

    /// Whether no daemon could be reached.
    static func isAbsence(_ failure: CommandFailure) -> Bool { failure.reason == "no-daemon" }

    /// Writes an event to the spool of the daemon at the socket `silent`, with nil of the first daemon that has one,
    /// and says so. Throws `failure`, with what kept it from being spooled, where that fails.
    func write(
        _ submission: Submission, silent socket: String? = nil, because failure: CommandFailure
    ) throws(CommandFailure) {
        let spool = EventSpool(candidates: session.sockets.spools(silent: socket))
        let path: String
        do throws(SpoolError) {
            path = try spool.write(submission)
        } catch {
            var failure = failure
            failure.message += "\nnor can the event be spooled: \(error)"
            throw failure
        }
        report(submission, path)
    }

    private func report(_ submission: Submission, _ path: String) {
        let id = submission.clientID ?? ""
        guard session.isJSON else {
            let place = Printable.text(path)
            return session.line("spooled \(Printable.text(id)) in \(place): the daemon takes it in when it answers")
        }
        session.json(["state": "spooled", "id": .string(id), "path": .string(path)])
    }
}
