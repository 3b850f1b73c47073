/// Limits of the protocol that no setting moves.
package enum Limits {
    /// A request line, in bytes without its line feed.
    package static let requestBytes = 65_536
    /// An answer line, in bytes without its line feed.
    package static let answerBytes = 1_048_576
    /// Nesting of arrays and objects in a request.
    package static let jsonDepth = 32
    /// Requests in one batch.
    package static let batchRequests = 64
    /// A player or a client's id, in bytes of UTF-8; at least 1.
    package static let playerBytes = 128
    /// A client's id for an event, in bytes of UTF-8; at least 1.
    package static let clientIDBytes = 128
    /// An event's metadata, in bytes of JSON.
    package static let metadataBytes = 4_096
    /// The ids of games, leaderboards, achievements and endpoints: at least 1 byte and at most so many.
    package static let nameBytes = 128
}
