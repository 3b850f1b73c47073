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
    /// All of them, those of the spool included.
    package var events: Int
    /// Events that were in the spool and not in the queue.
    package var spooled = 0
    package var notices: Int
    package var standings: Int
    package var accounts: Int
    /// Whether the database was written anew.
    package var isRewritten: Bool
    /// Paths of backups and set-aside queues, which are as they were.
    package var copies: [String]
    /// Paths of files in the spool that somebody has to look at, each perhaps with a colon and the reason.
    package var unclear: [String] = []
    /// Why the spool was not looked into, or not to its end.
    package var spoolTrouble: String?

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
        spooled = number("spooled")
        unclear = json["unclear"]?.arrayValue?.compactMap(\.stringValue) ?? []
        spoolTrouble = json["spoolTrouble"]?.stringValue
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var object = JSONObject()
        object["events"] = .integer(events)
        object["spooled"] = .integer(spooled)
        object["notices"] = .integer(notices)
        object["standings"] = .integer(standings)
        object["accounts"] = .integer(accounts)
        object["rewritten"] = .bool(isRewritten)
        object["copies"] = .array(copies.map(JSONValue.string))
        object["unclear"] = .array(unclear.map(JSONValue.string))
        object["spoolTrouble"] = spoolTrouble.map(JSONValue.string)
        return .object(object)
    }
}
