package import KleosJSON
package import KleosModel

/// The parameters of `notices`.
package struct NoticesParameters: Sendable, Equatable {
    package var game: String?
    package var player: String?
    /// Only notices with a greater number.
    package var after: Int64?
    /// Only those that no route has shown yet.
    package var isPendingOnly: Bool
    /// Rows, 1 … 500.
    package var limit: Int
    /// The language of the words, in POSIX form (`de_DE.UTF-8`).
    package var locale: String?

    /// Makes parameters.
    package init(
        game: String? = nil, player: String? = nil, after: Int64? = nil, isPendingOnly: Bool = false,
        limit: Int = 100, locale: String? = nil
    ) {
        self.locale = locale
        self.game = game
        self.player = player
        self.after = after
        self.isPendingOnly = isPendingOnly
        self.limit = limit
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        game = try reader.string("game")
        player = try reader.string("player")
        after = try reader.integer("after")
        isPendingOnly = try reader.flag("pending")
        limit = Int(try reader.integer("limit", in: 1...500) ?? 100)
        locale = try reader.string("locale")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["game"] = game.map(JSONValue.string)
        object["player"] = player.map(JSONValue.string)
        object["after"] = after.map { .integer($0) }
        if isPendingOnly { object["pending"] = true }
        object["limit"] = .integer(limit)
        object["locale"] = locale.map(JSONValue.string)
        return object
    }
}

/// The parameters of `notices.claim`: a route asks for what it may show.
package struct ClaimNoticesParameters: Sendable, Equatable {
    /// The route's name, 1 … 64 bytes: `desktop`, `game`.
    package var route: String
    package var game: String?
    /// Notices, 1 … 100.
    package var limit: Int
    /// The language of the words, in POSIX form (`de_DE.UTF-8`).
    package var locale: String?

    /// Makes parameters.
    package init(route: String, game: String? = nil, limit: Int = 20, locale: String? = nil) {
        self.locale = locale
        self.route = route
        self.game = game
        self.limit = limit
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        route = try reader.requiredString("route")
        guard (1...64).contains(route.utf8.count) else {
            throw RPCError(.invalidParameter, "route must have 1 to 64 bytes", field: "route")
        }
        game = try reader.string("game")
        limit = Int(try reader.integer("limit", in: 1...100) ?? 20)
        locale = try reader.string("locale")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["route"] = .string(route)
        object["game"] = game.map(JSONValue.string)
        object["limit"] = .integer(limit)
        object["locale"] = locale.map(JSONValue.string)
        return object
    }
}

/// The parameters of `notices.acknowledge`: a route has shown these.
package struct AcknowledgeNoticesParameters: Sendable, Equatable {
    package var route: String
    /// At most 500.
    package var numbers: [Int64]

    /// Makes parameters.
    package init(route: String, numbers: [Int64]) {
        self.route = route
        self.numbers = numbers
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        route = try reader.requiredString("route")
        guard let elements = reader.value("numbers")?.arrayValue, elements.count <= 500 else {
            throw RPCError(
                .invalidParameter, "numbers must be a list of at most 500 notices' numbers", field: "numbers")
        }
        numbers = []
        for element in elements {
            guard let number = element.int64Value else {
                throw RPCError(.invalidParameter, "numbers must be whole numbers", field: "numbers")
            }
            numbers.append(number)
        }
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["route"] = .string(route)
        object["numbers"] = .array(numbers.map { .integer($0) })
        return object
    }
}

/// One notice in an answer, with its words.
package struct NoticeRow: Sendable, Equatable {
    package var number: Int64
    package var key: EventKey
    package var game: String
    package var player: String
    package var kind: SubjectKind
    /// The leaderboard's or achievement's id.
    package var item: String
    package var value: String?
    package var rank: Int64?
    package var changed: Bool?
    package var title: String
    package var body: String
    package var gameTitle: String
    /// The leaderboard's or achievement's title.
    package var itemTitle: String
    /// What is written on the action that leads to the game; nil where its file does not say.
    package var openLabel: String?
    /// Unix milliseconds.
    package var createdAtMilliseconds: Int64
    /// Unix milliseconds; nil while nobody has shown it.
    package var shownAtMilliseconds: Int64?
    package var route: String?

    /// Makes a row of a notice and its words.
    package init(_ notice: Notice, text: NoticeText) {
        number = notice.number
        key = notice.key
        game = notice.game
        player = notice.player
        kind = notice.facts.kind
        item = notice.facts.item
        value = notice.facts.value?.description
        rank = notice.facts.rank
        changed = notice.facts.changed
        title = text.title
        body = text.body
        gameTitle = text.gameTitle
        itemTitle = text.itemTitle ?? notice.facts.item
        openLabel = text.openLabel
        createdAtMilliseconds = notice.createdMilliseconds
        shownAtMilliseconds = notice.shownMilliseconds
        route = notice.route
    }

    /// Reads a row; nil where it is none.
    package init?(json: JSONValue) {
        guard let number = json["number"]?.int64Value, let key = json["key"]?.stringValue.flatMap(EventKey.init),
            let subject = SubjectFields(json: json)
        else { return nil }
        self.number = number
        self.key = key
        game = json["game"]?.stringValue ?? ""
        player = json["player"]?.stringValue ?? ""
        kind = subject.kind
        item = subject.item
        value = subject.value
        rank = json["rank"]?.int64Value
        changed = json["changed"]?.boolValue
        title = json["title"]?.stringValue ?? ""
        body = json["body"]?.stringValue ?? ""
        gameTitle = json["gameTitle"]?.stringValue ?? game
        itemTitle = json["itemTitle"]?.stringValue ?? item
        openLabel = json["openLabel"]?.stringValue
        createdAtMilliseconds = json.time("createdAt") ?? 0
        shownAtMilliseconds = json.time("shownAt")
        route = json["route"]?.stringValue
    }

    /// The row as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        object["number"] = .integer(number)
        object["key"] = .string(key.description)
        object["game"] = .string(game)
        object["player"] = .string(player)
        object["kind"] = .string(kind.rawValue)
        object[kind == .score ? "leaderboard" : "achievement"] = .string(item)
        object["value"] = value.map(JSONValue.string)
        object["rank"] = rank.map { .integer($0) }
        object["changed"] = changed.map(JSONValue.bool)
        object["title"] = .string(title)
        object["body"] = .string(body)
        object["gameTitle"] = .string(gameTitle)
        object["itemTitle"] = .string(itemTitle)
        object["openLabel"] = openLabel.map(JSONValue.string)
        object.set(time: createdAtMilliseconds, as: "createdAt")
        object.set(time: shownAtMilliseconds, as: "shownAt")
        object["route"] = route.map(JSONValue.string)
        return .object(object)
    }
}

/// The answer to `notices` and `notices.claim`.
package struct NoticesAnswer: Sendable, Equatable {
    package var notices: [NoticeRow]
    /// Notices of events that are older than this are told together, in milliseconds; only in an answer to
    /// `notices.claim`, and nil for never.
    package var digestAfterMilliseconds: Int64?

    /// Makes an answer.
    package init(notices: [NoticeRow], digestAfterMilliseconds: Int64? = nil) {
        self.notices = notices
        self.digestAfterMilliseconds = digestAfterMilliseconds
    }

    /// Reads an answer.
    package init(json: JSONValue) {
        notices = json["notices"]?.arrayValue?.compactMap(NoticeRow.init) ?? []
        digestAfterMilliseconds = json["digestAfterMilliseconds"]?.int64Value
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var object = JSONObject()
        object["notices"] = .array(notices.map(\.json))
        object["digestAfterMilliseconds"] = digestAfterMilliseconds.map { .integer($0) }
        return .object(object)
    }
}
