package import KleosJSON
package import KleosModel
import KleosSupport

/// The parameters of `show`: an event by its key, or by the id that the client gave it.
package enum ShowParameters: Sendable, Equatable {
    case key(EventKey)
    case clientID(String, game: String)

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        if let text = try reader.string("key") {
            guard let key = EventKey(text) else {
                throw RPCError(
                    .invalidParameter, "key must be an event's key, like 0193764f-2f4b-7c5a-8a6e-0123456789ab",
                    field: "key")
            }
            self = .key(key)
        } else if let id = try reader.string("id") {
            self = .clientID(id, game: try reader.requiredString("game"))
        } else {
            throw reader.missing("key")
        }
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        switch self {
        case .key(let key): object["key"] = .string(key.description)
        case .clientID(let id, let game):
            object["id"] = .string(id)
            object["game"] = .string(game)
        }
        return object
    }
}

/// One delivery of an event, with its receipt.
package struct DeliveryDetail: Sendable, Equatable {
    package var row: DeliveryRow
    package var attempts: [Attempt]
    package var confirmation: Confirmation?
    /// The sentence that goes with `row.reason`.
    package var message: String?

    /// Makes a detail from its parts.
    package init(row: DeliveryRow, attempts: [Attempt], confirmation: Confirmation?, message: String?) {
        self.row = row
        self.attempts = attempts
        self.confirmation = confirmation
        self.message = message
    }

    /// Reads a detail; nil where it is none.
    package init?(json: JSONValue) {
        guard let row = DeliveryRow(json: json) else { return nil }
        self.row = row
        attempts = json["receipt"]?.arrayValue?.compactMap(Attempt.init(json:)) ?? []
        message = json["message"]?.stringValue
        confirmation = json["confirmation"].map(Confirmation.init(json:))
    }

    /// The detail as JSON: a row of `list` with `message`, `confirmation` and `receipt` added.
    package var json: JSONValue {
        var object = row.json.objectValue ?? JSONObject()
        object["message"] = message.map(JSONValue.string)
        object["confirmation"] = confirmation.map(\.json)
        object["receipt"] = .array(attempts.map(\.json))
        return .object(object)
    }
}

extension Confirmation {
    /// Reads what the endpoint said.
    package init(json: JSONValue) {
        self.init(
            rank: json["rank"]?.int64Value, best: json["best"]?.stringValue, changed: json["changed"]?.boolValue,
            unlocked: json["unlocked"]?.boolValue)
    }

    /// What the endpoint said, as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        object["rank"] = rank.map { .integer($0) }
        object["best"] = best.map(JSONValue.string)
        object["changed"] = changed.map(JSONValue.bool)
        object["unlocked"] = unlocked.map(JSONValue.bool)
        return .object(object)
    }
}

extension Attempt {
    /// Reads an attempt; nil where its outcome is not known.
    package init?(json: JSONValue) {
        guard let outcome = json["outcome"]?.stringValue.flatMap(Outcome.init) else { return nil }
        self.init(
            number: Int(clamping: json["number"]?.int64Value ?? 0), startedMilliseconds: json.time("at") ?? 0,
            durationMilliseconds: json["durationMilliseconds"]?.int64Value ?? 0, outcome: outcome,
            status: json["status"]?.int64Value.map { Int(clamping: $0) }, error: json["error"]?.stringValue,
            answer: json["answer"]?.stringValue)
    }

    /// The attempt as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        object["number"] = .integer(number)
        object.set(time: startedMilliseconds, as: "at")
        object["durationMilliseconds"] = .integer(durationMilliseconds)
        object["outcome"] = .string(outcome.rawValue)
        object["status"] = status.map { .integer($0) }
        object["error"] = error.map(JSONValue.string)
        object["answer"] = answer.map(JSONValue.string)
        return .object(object)
    }
}

/// The answer to `show`.
package struct ShowAnswer: Sendable, Equatable {
    package var event: Event
    package var deliveries: [DeliveryDetail]
    /// The event's game, where it is configured.
    package var game: Game?

    /// Makes an answer.
    package init(event: Event, deliveries: [DeliveryDetail], game: Game? = nil) {
        self.event = event
        self.game = game
        self.deliveries = deliveries
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var object = JSONObject()
        object["key"] = .string(event.key.description)
        object["id"] = event.clientID.map(JSONValue.string)
        object["game"] = .string(event.game)
        object["player"] = .string(event.player)
        SubjectFields(event.subject, game: game).write(to: &object)
        object.set(time: event.occurredAtMilliseconds, as: "occurredAt")
        object.set(time: event.recorded.wallMilliseconds, as: "recordedAt")
        object["clockSynchronized"] = .bool(event.recorded.isSynchronized)
        object["metadata"] = event.metadata.map(JSONValue.raw)
        var submitter = JSONObject()
        submitter["uid"] = .integer(event.submitter.uid)
        submitter["pid"] = .integer(event.submitter.pid)
        submitter["executable"] = event.submitter.executable.map(JSONValue.string)
        submitter["unit"] = event.submitter.unit.map(JSONValue.string)
        object["submitter"] = .object(submitter)
        return ["event": .object(object), "deliveries": .array(deliveries.map(\.json))]
    }
}
