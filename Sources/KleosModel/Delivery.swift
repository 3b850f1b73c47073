/// The state of one event on its way to one endpoint.
package enum DeliveryState: String, Sendable, CaseIterable {
    /// Behind another delivery of its stream.
    case waiting
    /// At the head of its stream; is sent when due.
    case ready
    /// In flight.
    case sending
    /// Confirmed by the endpoint.
    case delivered
    /// Replaced by a better or newer event of its stream.
    case superseded
    /// Given up, with a reason; an operator may retry it.
    case dead
    /// Stopped until somebody acts; the reason says by whom or why.
    case held
    /// Thrown away by an operator.
    case discarded

    /// Whether the delivery still has a way to go by itself.
    package var isUnsettled: Bool {
        switch self {
        case .waiting, .ready, .sending, .held: true
        case .delivered, .superseded, .dead, .discarded: false
        }
    }
}

/// Why a delivery is dead, held, or superseded by no event; stable words of the protocol.
package enum DeliveryReason: String, Sendable, CaseIterable {
    /// The endpoint refused the event for good.
    case rejected
    /// Older than the endpoint's maximum age.
    case expired
    /// Sent to a service where a second send counts twice, and no complete answer came.
    case ambiguous
    /// The endpoint answered 5xx too often for this delivery while it confirmed others.
    case serverErrors = "server-errors"
    /// The event cannot be expressed for the endpoint.
    case unrenderable
    /// Held by an operator.
    case operatorHold = "operator"
    /// Its game or endpoint is not in the configuration.
    case unconfigured
    /// The database came from another machine.
    case clone
    /// Under way in a backup that was restored, to a service where a second send counts twice: it may have arrived
    /// since.
    case restored
    /// Worse than what the service confirmed before, where the last write wins.
    case standing
}

/// A delivery's row number in the outbox; it means nothing outside the machine.
package struct DeliveryID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let number: Int64

    /// Wraps a row number.
    package init(_ number: Int64) {
        self.number = number
    }

    package var description: String { String(number) }

    package static func < (left: DeliveryID, right: DeliveryID) -> Bool { left.number < right.number }
}

/// The deliveries of one endpoint, game, player and item; at most one of them is in flight.
package struct StreamKey: Hashable, Sendable {
    package var endpoint: String
    package var game: String
    package var player: String
    package var kind: SubjectKind
    /// The leaderboard's or achievement's id.
    package var item: String

    /// Makes a key from its parts.
    package init(endpoint: String, game: String, player: String, kind: SubjectKind, item: String) {
        self.endpoint = endpoint
        self.game = game
        self.player = player
        self.kind = kind
        self.item = item
    }

    /// The leaderboard or achievement, whoever plays.
    package var board: BoardKey { BoardKey(game: game, kind: kind, item: item) }

    package static func == (left: StreamKey, right: StreamKey) -> Bool {
        left.kind == right.kind && ExactText.same(left.endpoint, right.endpoint)
            && ExactText.same(left.game, right.game) && ExactText.same(left.player, right.player)
            && ExactText.same(left.item, right.item)
    }

    package func hash(into hasher: inout Hasher) {
        // Equal bytes are equal strings, so that String's own hash is good enough.
        hasher.combine(player)
        hasher.combine(item)
    }
}

/// A leaderboard or an achievement of one game; two games may have some of the same id.
package struct BoardKey: Hashable, Sendable {
    package var game: String
    package var kind: SubjectKind
    /// The leaderboard's or achievement's id.
    package var item: String

    /// Makes a key from its parts.
    package init(game: String, kind: SubjectKind, item: String) {
        self.game = game
        self.kind = kind
        self.item = item
    }

    package static func == (left: BoardKey, right: BoardKey) -> Bool {
        left.kind == right.kind && ExactText.same(left.game, right.game) && ExactText.same(left.item, right.item)
    }

    package func hash(into hasher: inout Hasher) {
        // As for streams.
        hasher.combine(game)
        hasher.combine(item)
    }
}

/// How deliveries of one stream replace each other while they wait.
package enum MergeRule: Sendable, Equatable {
    /// Never: each takes effect by itself.
    case none
    /// The better one stays.
    case best(SortOrder)
    /// The newer one stays.
    case latest
}

/// What goes out first where an endpoint's budget does not allow all.
package enum DeliveryPriority: Int, Sendable, Comparable {
    case achievement = 0
    case score = 1
    case counter = 2

    package static func < (left: DeliveryPriority, right: DeliveryPriority) -> Bool { left.rawValue < right.rawValue }
}

/// One of the deliveries that an accepted event fans out to.
package struct FanOut: Sendable, Equatable {
    package var endpoint: String
    package var merge: MergeRule
    /// Whether the stream goes strictly in order, a head in backoff stopping the rest.
    package var isStrict: Bool
    package var priority: DeliveryPriority
    /// Whether the player is told only after this delivery is confirmed.
    package var confirms: Bool

    /// Makes a fan-out from its parts.
    package init(endpoint: String, merge: MergeRule, isStrict: Bool, priority: DeliveryPriority, confirms: Bool) {
        self.endpoint = endpoint
        self.merge = merge
        self.isStrict = isStrict
        self.priority = priority
        self.confirms = confirms
    }
}
