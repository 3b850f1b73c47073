package import KleosJSON
package import KleosModel

/// The parameters of `standing`.
package struct StandingParameters: Sendable, Equatable {
    package var game: String
    package var player: String?
    package var leaderboard: String?
    package var achievement: String?
    package var endpoint: String?

    /// Makes parameters; nil means all, and for the player the game's own.
    package init(
        game: String, player: String? = nil, leaderboard: String? = nil, achievement: String? = nil,
        endpoint: String? = nil
    ) {
        self.game = game
        self.player = player
        self.leaderboard = leaderboard
        self.achievement = achievement
        self.endpoint = endpoint
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        game = try reader.requiredString("game")
        player = try reader.string("player")
        leaderboard = try reader.string("leaderboard")
        achievement = try reader.string("achievement")
        endpoint = try reader.string("endpoint")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["game"] = .string(game)
        object["player"] = player.map(JSONValue.string)
        object["leaderboard"] = leaderboard.map(JSONValue.string)
        object["achievement"] = achievement.map(JSONValue.string)
        object["endpoint"] = endpoint.map(JSONValue.string)
        return object
    }
}

/// The answer to `standing`.
package struct StandingAnswer: Sendable, Equatable {
    package var standings: [Standing]

    /// Makes an answer.
    package init(standings: [Standing]) {
        self.standings = standings
    }

    /// Reads an answer.
    package init(json: JSONValue) {
        standings = json["standings"]?.arrayValue?.compactMap(Standing.init(json:)) ?? []
    }

    /// The answer's `result`; `leaderboards` of the game render what is shown to people.
    package func json(leaderboards: [String: Leaderboard] = [:]) -> JSONValue {
        let rows = standings.map { standing in
            standing.json(leaderboard: standing.stream.kind == .score ? leaderboards[standing.stream.item] : nil)
        }
        return ["standings": .array(rows)]
    }
}

extension Standing {
    /// Reads a standing; nil where it is none.
    package init?(json: JSONValue) {
        let board = json["leaderboard"]?.stringValue
        guard let item = board ?? json["achievement"]?.stringValue else { return nil }
        self.init(
            stream: StreamKey(
                endpoint: json["endpoint"]?.stringValue ?? "", game: json["game"]?.stringValue ?? "",
                player: json["player"]?.stringValue ?? "", kind: board == nil ? .achievement : .score, item: item),
            confirmed: json["confirmed"].flatMap(StandingMark.init(json:)),
            pending: json["pending"].flatMap(StandingMark.init(json:)))
    }

    /// The standing as JSON, with scores also as people read them where the leaderboard is known.
    package func json(leaderboard: Leaderboard? = nil) -> JSONValue {
        var object = JSONObject()
        object["endpoint"] = .string(stream.endpoint)
        object["game"] = .string(stream.game)
        object["player"] = .string(stream.player)
        object[stream.kind == .score ? "leaderboard" : "achievement"] = .string(stream.item)
        object["confirmed"] = confirmed.map { $0.json(leaderboard: leaderboard) }
        object["pending"] = pending.map { $0.json(leaderboard: leaderboard) }
        return .object(object)
    }
}

extension StandingMark {
    /// Reads a mark; nil where it says nothing.
    package init?(json: JSONValue) {
        let measure: StandingMeasure
        if let text = json["value"]?.stringValue {
            let decimals = text.utf8.firstIndex(of: UInt8(ascii: ".")).map {
                text.utf8.distance(from: $0, to: text.utf8.endIndex) - 1
            }
            guard let value = try? ScoreValue(text: text, decimals: min(decimals ?? 0, ScoreValue.maximumDecimals))
            else { return nil }
            measure = .value(value)
        } else if let progress = json["progress"]?.int64Value {
            measure = .progress(Int(clamping: progress))
        } else if let steps = json["steps"]?.int64Value {
            measure = .steps(steps)
        } else {
            return nil
        }
        self.init(measure: measure, atMilliseconds: json.time("at") ?? 0, rank: json["rank"]?.int64Value)
    }

    /// The mark as JSON.
    package func json(leaderboard: Leaderboard? = nil) -> JSONValue {
        var object = JSONObject()
        switch measure {
        case .value(let value):
            object["value"] = .string(value.description)
            object["display"] = leaderboard.map { .string(ScoreText.text(value, format: $0.format)) }
        case .progress(let percent): object["progress"] = .integer(percent)
        case .steps(let count): object["steps"] = .integer(count)
        }
        object["rank"] = rank.map { .integer($0) }
        object.set(time: atMilliseconds, as: "at")
        return .object(object)
    }
}
