import KleosWire

/// Why a request to the daemon came to nothing.
public enum KleosError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The daemon refused: a stable word, a sentence for people, and the parameter at fault.
    case refused(reason: String, message: String, field: String?)
    /// The daemon did not answer within the client's time limit. An event never fails so: it is spooled, or kept.
    case timedOut(String)
    /// The client was closed before an answer came, and the event could not be spooled either, for the reason that the
    /// text gives; it may be submitted again.
    case unanswered(String)
    /// The daemon answered something that this library does not understand.
    case malformed(String)

    init(_ error: RPCError) {
        self = .refused(reason: error.reason, message: error.message, field: error.field)
    }

    /// What went wrong, as a sentence.
    public var description: String {
        switch self {
        case .refused(let reason, let message, _): "\(message) (\(reason))"
        case .timedOut(let message): "the daemon did not answer in time: \(message)"
        case .unanswered(let message): "no answer from the daemon: \(message)"
        case .malformed(let message): "the daemon's answer cannot be read: \(message)"
        }
    }
}
