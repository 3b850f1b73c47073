import KleosModel
import KleosWire

/// The word that an event is on disk and will be delivered.
public struct SubmitReceipt: Sendable, Equatable {
    /// How far an event has come.
    public enum State: Sendable, Equatable {
        /// The daemon has it and delivers it.
        case accepted
        /// The daemon has it, and a better event of the same player makes it unnecessary.
        case superseded
        /// No daemon answered in time: the event is in the daemon's spool, from which it is taken in when the daemon
        /// runs again. The daemon's rules are asked only then, and what they refuse is shown by `kleos status`.
        case spooled
    }

    /// How far the event has come.
    public let state: State
    /// The daemon's key for the event; `kleos show KEY` tells what became of it. Nil for a spooled event, which has no
    /// key yet.
    public let key: String?
    /// The id under which this library submitted it.
    public let id: String
    /// Whether the daemon had it already.
    public let isDuplicate: Bool
    /// Parameters that this daemon does not know.
    public let ignoredParameters: [String]
    /// The file that holds a spooled event; nil for others.
    public let spoolFile: String?

    /// Whether a better event of the same player makes this one unnecessary.
    public var isSuperseded: Bool { state == .superseded }

    init(_ answer: SubmitAnswer, id: String) {
        state = answer.isSuperseded ? .superseded : .accepted
        key = answer.key.description
        self.id = id
        isDuplicate = answer.isDuplicate
        ignoredParameters = answer.ignored
        spoolFile = nil
    }

    init(spooledAs id: String, in path: String) {
        state = .spooled
        key = nil
        self.id = id
        isDuplicate = false
        ignoredParameters = []
        spoolFile = path
    }
}
