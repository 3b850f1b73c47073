package import KleosJSON

/// The parameters of `register`.
package struct RegisterParameters: Sendable, Equatable {
    /// The text of a catalog, in the form of a game's file.
    package var catalog: String

    /// Makes parameters.
    package init(catalog: String) {
        self.catalog = catalog
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        guard let text = try reader.string("catalog"), !text.isEmpty else {
            throw RPCError(.invalidParameter, "catalog is missing: the text of a game's file", field: "catalog")
        }
        catalog = text
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["catalog"] = .string(catalog)
        return object
    }
}

/// The answer to `register`.
package struct RegisterAnswer: Sendable, Equatable {
    /// What became of the catalog.
    package enum State: String, Sendable, CaseIterable {
        /// The game is known by it from now on.
        case registered
        /// It is what the daemon had already.
        case unchanged
        /// A file in games.d describes the game, and stays in force.
        case configured
    }

    package var game: String
    package var state: State
    package var leaderboards: Int
    package var achievements: Int

    /// Makes an answer.
    package init(game: String, state: State, leaderboards: Int, achievements: Int) {
        self.game = game
        self.state = state
        self.leaderboards = leaderboards
        self.achievements = achievements
    }

    /// Reads an answer; nil where it is none.
    package init?(json: JSONValue) {
        guard let game = json["game"]?.stringValue, let state = json["state"]?.stringValue.flatMap(State.init) else {
            return nil
        }
        self.game = game
        self.state = state
        leaderboards = Int(clamping: json["leaderboards"]?.int64Value ?? 0)
        achievements = Int(clamping: json["achievements"]?.int64Value ?? 0)
    }

    /// The answer's `result`.
    package var json: JSONValue {
        [
            "game": .string(game), "state": .string(state.rawValue), "leaderboards": .integer(leaderboards),
            "achievements": .integer(achievements),
        ]
    }
}
