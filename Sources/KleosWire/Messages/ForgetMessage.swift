package import KleosJSON

/// The parameters of `forget`.
package struct ForgetParameters: Sendable, Equatable {
    package var player: String
    /// Nil for all games.
    package var game: String?

    /// Makes parameters.
    package init(player: String, game: String?) {
        self.player = player
        self.game = game
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        player = try reader.requiredString("player")
        game = try reader.string("game")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["player"] = .string(player)
        object["game"] = game.map(JSONValue.string)
        return object
    }
}

/// The answer to `forget`.
package struct ForgetAnswer: Sendable, Equatable {
    package var events: Int
    package var notices: Int
    package var standings: Int
    package var accounts: Int
    /// Whether the database was written anew.
    package var isRewritten: Bool
    /// Paths of backups and set-aside queues, which are as they were.
    package var copies: [String]

    /// Makes an answer.
    package init(
        events: Int, notices: Int, standings: Int, accounts: Int, isRewritten: Bool, copies: [String]
    ) {
        self.events = events
        self.notices = notices
        self.standings = standings
        self.accounts = accounts
        self.isRewritten = isRewritten
        self.copies = copies
    }

    /// Reads an answer; what is missing is empty.
    package init(json: JSONValue) {
        func number(_ name: String) -> Int { Int(clamping: json[name]?.int64Value ?? 0) }
        self.init(
            events: number("events"), notices: number("notices"), standings: number("standings"),
            accounts: number("accounts"), isRewritten: json["rewritten"]?.boolValue ?? false,
            copies: json["copies"]?.arrayValue?.compactMap(\.stringValue) ?? [])
    }

    /// The answer's `result`.
    package var json: JSONValue {
        [
            "events": .integer(events), "notices": .integer(notices), "standings": .integer(standings),
            "accounts": .integer(accounts), "rewritten": .bool(isRewritten),
            "copies": .array(copies.map(JSONValue.string)),
        ]
    }
}
