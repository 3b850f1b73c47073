import KleosModel

/// Checked submissions of one turn of a connection, on their way to the store together.
struct SubmitBundle {
    /// What the store is to record.
    struct Entry: Sendable {
        var event: Event
        var fanOut: [FanOut]
    }

    /// Keeps one client's turn in a transaction short.
    private static let maximumEvents = 64

    private(set) var events: [Entry] = []
    /// Where the answers go, in the order of `events`.
    private(set) var tokens: [ReplyToken] = []

    var isEmpty: Bool { events.isEmpty }
    var isFull: Bool { events.count >= Self.maximumEvents }

    /// Adds a submission; the `bytes` that may follow in this turn tell for how many more there should be room.
    mutating func add(_ event: Event, _ fanOut: [FanOut], _ token: ReplyToken, following bytes: Int) {
        if events.isEmpty {
            let expected = min(Self.maximumEvents, 1 + max(0, bytes) / max(1, token.bytes))
            events.reserveCapacity(expected)
            tokens.reserveCapacity(expected)
        }
        events.append(Entry(event: event, fanOut: fanOut))
        tokens.append(token)
    }
}
