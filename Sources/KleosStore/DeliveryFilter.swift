package import KleosModel

/// Which deliveries; nil or empty means any.
package struct DeliveryFilter: Sendable, Equatable {
    package var states: Set<DeliveryState>
    package var endpoint: String?
    package var game: String?
    package var player: String?
    package var kind: SubjectKind?
    /// The leaderboard's or achievement's id.
    package var item: String?
    /// The user who submitted.
    package var uid: UInt32?
    /// Text that occurs in player, item, metadata or the client's id; ASCII letters match in either case.
    package var text: String?

    /// Makes a filter.
    package init(
        states: Set<DeliveryState> = [], endpoint: String? = nil, game: String? = nil, player: String? = nil,
        kind: SubjectKind? = nil, item: String? = nil, uid: UInt32? = nil, text: String? = nil
    ) {
        self.states = states
        self.endpoint = endpoint
        self.game = game
        self.player = player
        self.kind = kind
        self.item = item
        self.uid = uid
        self.text = text
    }
}

/// What an operator's verb applies to.
package enum DeliverySelection: Sendable, Equatable {
    /// The deliveries of these events, all of them or those to one endpoint.
    case keys([EventKey], endpoint: String? = nil)
    case filter(DeliveryFilter)
}

/// What one step of an operator's verb did.
package struct OperationReport: Sendable, Equatable {
    /// A delivery that stays as it is, or an event that does not exist, and why.
    package struct Unchanged: Sendable, Equatable {
        package var key: EventKey
        /// Nil where the whole event is meant.
        package var endpoint: String?
        package var reason: String
    }

    /// How many deliveries the verb changed; what is in flight counts when the verb is noted down for it.
    package var changed: Int = 0
    package var unchanged: [Unchanged] = []
    /// Where the next step goes on; nil when all is done.
    package var cursor: String?

    /// Whether the caller has to go on, with `cursor`.
    package var hasMore: Bool { cursor != nil }
}
