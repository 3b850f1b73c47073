import KleosModel
import KleosStore

/// What was promised: the acknowledged events, what operators asked for, and what players were shown.
struct Ledger {
    /// An event that a client was told is safe.
    struct Promise {
        var event: Event
        var fanOut: [FanOut]
        /// True time, Unix milliseconds.
        var acknowledgedMilliseconds: Int64
    }

    /// One delivery's name.
    struct Way: Hashable {
        var key: EventKey
        var endpoint: String
    }

    /// What is known of a delivery.
    struct Fact {
        var state: DeliveryState
        var reason: DeliveryReason?
        var supersededBy: EventKey?
        /// Grows with the order in which events were accepted; row numbers are used again once rows are removed.
        var order: Int
        var record: DeliveryRecord
    }

    private(set) var promises: [EventKey: Promise] = [:]
    /// In the order of the acknowledgements.
    private(set) var keys: [EventKey] = []
    /// As the outbox last said.
    var facts: [Way: Fact] = [:]
    /// Places in the order in which deliveries were seen first.
    private var orders: [Way: Int] = [:]
    /// The latest committed state of every delivery.
    private(set) var lastStates: [Way: DeliveryState] = [:]
    /// Events that an operator discarded.
    var discarded: Set<EventKey> = []
    /// Events that an operator had sent again.
    var retried: Set<EventKey> = []
    /// Streams that an operator's hand was in, so that their order is the operator's.
    var handled: Set<String> = []
    /// How often a player was shown the notice of an event.
    var shown: [EventKey: Int] = [:]

    /// Takes over what was found. What is not there any more keeps its last state; what it gave way to is unknown,
    /// since that can change without the state.
    mutating func remember(_ found: [Way: Fact]) {
        for way in facts.keys where found[way] == nil { facts[way]?.supersededBy = nil }
        // Rows are numbered in the order of acceptance while they are there.
        for (way, fact) in found.sorted(by: { $0.value.record.id < $1.value.record.id }) {
            var fact = fact
            fact.order = order(of: way)
            facts[way] = fact
            lastStates[way] = fact.state
        }
    }

    private mutating func order(of way: Way) -> Int {
        if let order = orders[way] { return order }
        orders[way] = orders.count
        return orders.count - 1
    }

    /// Takes note of a change that was committed.
    mutating func moved(_ change: DeliveryChange) {
        let way = Way(key: change.key, endpoint: change.endpoint)
        _ = order(of: way)
        facts[way]?.state = change.to
        facts[way]?.reason = change.reason
        facts[way]?.supersededBy = nil
        lastStates[way] = change.to
    }

    /// Takes note of an acknowledgement. Returns whether it is the first of this event.
    mutating func promise(_ promise: Promise) -> Bool {
        let key = promise.event.key
        guard promises[key] == nil else { return false }
        promises[key] = promise
        keys.append(key)
        return true
    }
}

extension DeliveryRecord {
    /// The delivery's stream, as services name it.
    var streamName: String { "\(game)/\(player)/\(subject.kind.rawValue)/\(subject.item)" }
}
