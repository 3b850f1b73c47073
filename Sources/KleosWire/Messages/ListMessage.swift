package import KleosJSON
package import KleosModel

/// Which deliveries are meant: by `list`, and by the verbs that operate the queue.
package struct DeliveryCriteria: Sendable, Equatable {
    package var states: [DeliveryState]
    package var game: String?
    package var player: String?
    package var endpoint: String?
    package var kind: SubjectKind?
    /// Found anywhere in player, item, id or metadata, letter case aside.
    package var text: String?

    /// Makes criteria; nil and empty mean any.
    package init(
        states: [DeliveryState] = [], game: String? = nil, player: String? = nil, endpoint: String? = nil,
        kind: SubjectKind? = nil, text: String? = nil
    ) {
        self.states = states
        self.game = game
        self.player = player
        self.endpoint = endpoint
        self.kind = kind
        self.text = text
    }

    /// Reads criteria. Throws `RPCError`.
    package init(reader: inout ParameterReader) throws(RPCError) {
        states = try reader.words("states", as: DeliveryState.self) ?? []
        game = try reader.string("game")
        player = try reader.string("player")
        endpoint = try reader.string("endpoint")
        kind = try reader.word("kind", as: SubjectKind.self)
        text = try reader.string("text")
    }

    /// The parameters that say the same.
    package var parameters: JSONObject {
        var object = JSONObject()
        if !states.isEmpty { object["states"] = .array(states.map { .string($0.rawValue) }) }
        object["game"] = game.map(JSONValue.string)
        object["player"] = player.map(JSONValue.string)
        object["endpoint"] = endpoint.map(JSONValue.string)
        object["kind"] = kind.map { .string($0.rawValue) }
        object["text"] = text.map(JSONValue.string)
        return object
    }
}

/// The parameters of `list`.
package struct ListParameters: Sendable, Equatable {
    package var criteria: DeliveryCriteria
    /// Rows in one answer, 1 … 500.
    package var limit: Int
    /// Where the answer before this one stopped.
    package var cursor: String?

    /// Rows where the client does not say.
    package static let standardLimit = 100
    /// Rows at the most.
    package static let maximumLimit = 500

    /// Makes parameters.
    package init(criteria: DeliveryCriteria = DeliveryCriteria(), limit: Int = standardLimit, cursor: String? = nil) {
        self.criteria = criteria
        self.limit = limit
        self.cursor = cursor
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        criteria = try DeliveryCriteria(reader: &reader)
        limit = Int(try reader.integer("limit", in: 1...Int64(Self.maximumLimit)) ?? Int64(Self.standardLimit))
        cursor = try reader.string("cursor")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = criteria.parameters
        object["limit"] = .integer(limit)
        object["cursor"] = cursor.map(JSONValue.string)
        return object
    }
}

/// One delivery in an answer to `list`.
package struct DeliveryRow: Sendable, Equatable {
    package var key: EventKey
    package var clientID: String?
    package var endpoint: String
    package var state: DeliveryState
    package var reason: String?
    package var game: String
    package var player: String
    package var subject: SubjectFields
    /// Unix milliseconds, like all times here.
    package var recordedAtMilliseconds: Int64
    package var attempts: Int
    package var nextAttemptAtMilliseconds: Int64?
    package var settledAtMilliseconds: Int64?
    package var supersededBy: EventKey?

    /// Makes a row from its parts.
    package init(
        key: EventKey, clientID: String?, endpoint: String, state: DeliveryState, reason: String?, game: String,
        player: String, subject: SubjectFields, recordedAtMilliseconds: Int64, attempts: Int,
        nextAttemptAtMilliseconds: Int64?, settledAtMilliseconds: Int64?, supersededBy: EventKey?
    ) {
        self.key = key
        self.clientID = clientID
        self.endpoint = endpoint
        self.state = state
        self.reason = reason
        self.game = game
        self.player = player
        self.subject = subject
        self.recordedAtMilliseconds = recordedAtMilliseconds
        self.attempts = attempts
        self.nextAttemptAtMilliseconds = nextAttemptAtMilliseconds
        self.settledAtMilliseconds = settledAtMilliseconds
        self.supersededBy = supersededBy
    }

    /// Reads a row; nil where it is none, or of a state that this client does not know.
    package init?(json: JSONValue) {
        guard let key = json["key"]?.stringValue.flatMap(EventKey.init),
            let state = json["state"]?.stringValue.flatMap(DeliveryState.init), let subject = SubjectFields(json: json)
        else { return nil }
        self.key = key
        self.state = state
        self.subject = subject
        clientID = json["id"]?.stringValue
        endpoint = json["endpoint"]?.stringValue ?? ""
        reason = json["reason"]?.stringValue
        game = json["game"]?.stringValue ?? ""
        player = json["player"]?.stringValue ?? ""
        recordedAtMilliseconds = json.time("recordedAt") ?? 0
        attempts = Int(clamping: json["attempts"]?.int64Value ?? 0)
        nextAttemptAtMilliseconds = json.time("nextAttemptAt")
        settledAtMilliseconds = json.time("settledAt")
        supersededBy = json["supersededBy"]?.stringValue.flatMap(EventKey.init)
    }

    /// The row as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        object["key"] = .string(key.description)
        object["id"] = clientID.map(JSONValue.string)
        object["endpoint"] = .string(endpoint)
        object["state"] = .string(state.rawValue)
        object["reason"] = reason.map(JSONValue.string)
        object["game"] = .string(game)
        object["player"] = .string(player)
        subject.write(to: &object)
        object.set(time: recordedAtMilliseconds, as: "recordedAt")
        object["attempts"] = .integer(attempts)
        object.set(time: nextAttemptAtMilliseconds, as: "nextAttemptAt")
        object.set(time: settledAtMilliseconds, as: "settledAt")
        object["supersededBy"] = supersededBy.map { .string($0.description) }
        return .object(object)
    }
}

/// The answer to `list`.
package struct ListAnswer: Sendable, Equatable {
    /// Newest first.
    package var rows: [DeliveryRow]
    /// Where the next `list` goes on; nil at the end. An answer with a cursor may have few rows, or none.
    package var cursor: String?

    /// Makes an answer.
    package init(rows: [DeliveryRow], cursor: String?) {
        self.rows = rows
        self.cursor = cursor
    }

    /// Reads an answer; rows that this client cannot read are left out.
    package init(json: JSONValue) {
        rows = json["deliveries"]?.arrayValue?.compactMap(DeliveryRow.init) ?? []
        cursor = json["cursor"]?.stringValue
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var object = JSONObject()
        object["deliveries"] = .array(rows.map(\.json))
        object["cursor"] = cursor.map(JSONValue.string)
        return .object(object)
    }
}
