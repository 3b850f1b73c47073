import KleosJSON
import KleosModel

/// What a service holds, and what was done to it in which order: the truth that deliveries are measured by.
struct ServiceBook {
    /// One event as it arrived.
    struct Arrival {
        var key: String
        var stream: String
        var body: [UInt8]
        /// A score's units, a percentage or a count of steps.
        var amount: Int64
        /// Whether less is better.
        var isAscending: Bool
        /// `best`, `latest`, `every` or `sum`; `best` for achievements, `sum` for increments.
        var keep: String
        var isAchievement: Bool
        /// How many steps unlock it.
        var of: Int64?
        var measure: String

        /// Whether `other` is no better than this.
        func isAtLeast(_ other: Int64) -> Bool { isAscending ? amount <= other : amount >= other }
    }

    /// What a key did here.
    struct Effect {
        var body: [UInt8]
        /// How often it took effect; a service that honours keys stops at one.
        var count: Int
        var answer: String
        /// Whether it changed the standing for the better, or unlocked the achievement.
        var isNews: Bool
    }

    /// By key.
    private(set) var effects: [String: Effect] = [:]
    /// Keys in the order in which they first took effect, by stream.
    private(set) var order: [String: [String]] = [:]
    /// What a stream's standing is now.
    private(set) var standing: [String: Arrival] = [:]

    /// Reads a request's body; nil where it is not of the contract.
    static func read(_ body: [UInt8]) -> Arrival? {
        guard let value = try? JSONParser.parse(body, limits: JSONLimits(depth: 32, maximumBytes: 1 << 20)),
            let key = value["key"]?.stringValue, let game = value["game"]?.stringValue,
            let player = value["player"]?.stringValue
        else { return nil }
        if let board = value["leaderboard"]?.stringValue, let text = value["value"]?.stringValue,
            let amount = Int64(text), let keep = value["keep"]?.stringValue
        {
            return Arrival(
                key: key, stream: "\(game)/\(player)/score/\(board)", body: body, amount: amount,
                isAscending: value["order"]?.stringValue == "ascending", keep: keep, isAchievement: false,
                measure: "value")
        }
        guard let item = value["achievement"]?.stringValue else { return nil }
        for measure in ["progress", "steps", "increment"] {
            guard let amount = value[measure]?.int64Value else { continue }
            return Arrival(
                key: key, stream: "\(game)/\(player)/achievement/\(item)", body: body, amount: amount,
                isAscending: false, keep: measure == "increment" ? "sum" : "best", isAchievement: true,
                of: value["of"]?.int64Value, measure: measure)
        }
        return nil
    }

    /// Values that this service will never take.
    static func refuses(_ arrival: Arrival) -> Bool { !arrival.isAchievement && arrival.amount % 17 == 0 }

    /// Takes an event and answers. Returns status and body.
    mutating func take(_ arrival: Arrival, resend: ResendEffect) -> (status: Int, body: String) {
        if Self.refuses(arrival) {
            return (422, #"{"error":{"code":"invalid-value","message":"no multiples of 17"}}"#)
        }
        if resend == .keyed, let earlier = effects[arrival.key] {
            if earlier.body != arrival.body {
                return (422, #"{"error":{"code":"idempotency-key-reused","message":"another body"}}"#)
            }
            return (200, earlier.answer)
        }
        let isNews = apply(arrival, resend: resend)
        let answer =
            arrival.isAchievement
            ? #"{"accepted":true,"unlocked":\#(isUnlocked(arrival)),"new":\#(isNews)}"#
            : #"{"accepted":true,"rank":1,"improved":\#(isNews)}"#
        let count = (effects[arrival.key]?.count ?? 0) + 1
        effects[arrival.key] = Effect(
            body: arrival.body, count: count, answer: answer, isNews: isNews || effects[arrival.key]?.isNews == true)
        return (200, answer)
    }

    private func isUnlocked(_ arrival: Arrival) -> Bool {
        guard let now = standing[arrival.stream] else { return false }
        return now.measure == "progress" ? now.amount >= 100 : now.of.map { now.amount >= $0 } ?? false
    }

    /// Returns whether it is news for the player.
    private mutating func apply(_ arrival: Arrival, resend: ResendEffect) -> Bool {
        if effects[arrival.key] == nil { order[arrival.stream, default: []].append(arrival.key) }
        let before = standing[arrival.stream]
        let wasUnlocked = arrival.isAchievement && isUnlocked(arrival)
        let isBetter = before.map { !$0.isAtLeast(arrival.amount) } ?? true
        if resend == .lastWrite || arrival.keep != "best" || isBetter { standing[arrival.stream] = arrival }
        if arrival.isAchievement { return !wasUnlocked && isUnlocked(arrival) }
        return isBetter || arrival.keep != "best"
    }
}
