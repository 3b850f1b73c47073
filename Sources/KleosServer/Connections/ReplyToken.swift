import KleosStore

/// Where an answer goes; travels through the store and the hooks and back.
struct ReplyToken: Sendable {
    /// A place in the answer to a batch.
    struct BatchSlot: Sendable {
        var batch: UInt64
        var index: Int
    }

    var connection: UInt64
    var uid: UInt32
    /// The request's id, as it came; without one only errors are answered.
    var id: [UInt8]?
    var slot: BatchSlot?
    /// The request's length.
    var bytes: Int
    /// Whether the answer may be large.
    var isHeavy = false
    /// Parameters that the request had and the daemon does not know.
    var ignored: [String] = []

    /// Where the request's work for the store waits.
    var lane: WorkLane { .user(uid, connection: connection) }
}

/// The answers to a batch, until all are there.
struct BatchAnswer {
    private var answers: [[UInt8]?]
    private var missing: Int

    init(count: Int) {
        answers = Array(repeating: nil, count: count)
        missing = count
    }

    /// All answers in the order of their requests, those left out that want none; nil while some are missing.
    var complete: [[UInt8]]? { missing == 0 ? answers.compactMap { $0 } : nil }

    /// Bytes of the answers that are there.
    var bytes: Int { answers.reduce(0) { $0 + ($1?.count ?? 0) + 1 } }

    /// Sets the answer at `index`, once for each; nil where none is wanted.
    mutating func set(_ answer: [UInt8]?, at index: Int) {
        answers[index] = answer
        missing -= 1
    }
}
