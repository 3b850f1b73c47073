package import KleosJSON

/// What a client may be told of as it happens.
package enum Topic: String, Sendable, CaseIterable {
    /// A delivery changed its state.
    case deliveries
    /// There is something to tell the player.
    case notices
    /// An endpoint's condition changed.
    case endpoints

    /// The method of the notifications about it.
    package var notificationMethod: String {
        switch self {
        case .deliveries: "delivery"
        case .notices: "notice"
        case .endpoints: "endpoint"
        }
    }
}

/// The parameters of `subscribe`; a later one replaces the earlier one of the same connection.
package struct SubscribeParameters: Sendable, Equatable {
    package var topics: [Topic]
    package var game: String?
    package var player: String?

    /// Makes parameters; nil means any.
    package init(topics: [Topic], game: String? = nil, player: String? = nil) {
        self.topics = topics
        self.game = game
        self.player = player
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        guard let topics = try reader.words("topics", as: Topic.self) else { throw reader.missing("topics") }
        self.topics = topics
        game = try reader.string("game")
        player = try reader.string("player")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["topics"] = .array(topics.map { .string($0.rawValue) })
        object["game"] = game.map(JSONValue.string)
        object["player"] = player.map(JSONValue.string)
        return object
    }
}

/// Whether a game is in front of the player.
package enum PresenceState: String, Sendable, CaseIterable {
    case foreground
    case background
}

/// The parameters of `presence`; it belongs to the connection and ends with it.
package struct PresenceParameters: Sendable, Equatable {
    package var game: String
    package var player: String?
    package var state: PresenceState

    /// Makes parameters.
    package init(game: String, player: String?, state: PresenceState) {
        self.game = game
        self.player = player
        self.state = state
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        game = try reader.requiredString("game")
        player = try reader.string("player")
        guard let state = try reader.word("state", as: PresenceState.self) else { throw reader.missing("state") }
        self.state = state
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["game"] = .string(game)
        object["player"] = player.map(JSONValue.string)
        object["state"] = .string(state.rawValue)
        return object
    }
}
