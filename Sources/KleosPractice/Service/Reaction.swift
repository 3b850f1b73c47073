import KleosJSON

/// What the server is to do about one request.
struct Reaction {
    /// How an answer goes out.
    enum Delivery: Equatable {
        case send
        /// The connection is closed and nothing is sent.
        case close
        /// Nothing is sent and the connection stays open.
        case never
        /// The connection gets the state of the service now and after each change, as server-sent events.
        case stream
        /// So many bytes are sent, then the connection is reset.
        case reset(afterBytes: Int)
    }

    /// What must be durable before the answer goes out.
    struct Effect {
        let path: String
        let body: [UInt8]
        let parsed: JSONValue
        let fingerprint: UInt64
    }

    var answer: HTTPAnswer
    var delivery = Delivery.send
    var delayMilliseconds = 0
    var effect: Effect?
    /// The key that counts as in progress until the delay is over.
    var heldKey: String?
}
