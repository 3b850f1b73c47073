import KleosJSON
import KleosModel

/// A request that waits for its answer.
struct PendingRequest {
    /// What a request came to.
    enum Reply: Sendable {
        case answer(JSONValue)
        /// The event is in this file of the spool.
        case spooled(path: String)
    }

    var line: [UInt8]
    /// Whether a new connection makes it pointless, because it begins with requests of the kind itself.
    var isOfConnection: Bool
    /// Whether it is asked until it is answered, however long that takes.
    var isKept: Bool
    /// The event that it hands over.
    var submission: Submission?
    var enqueuedNanoseconds: Int64
    var completion: @Sendable (Result<Reply, KleosError>) -> Void
}
