package import KleosJSON
package import KleosModel

extension Submission {
    /// Reads the parameters of `submit`; names that are not known go to `ignored`. Throws `RPCError`.
    package static func parse(_ request: RPCRequest) throws(RPCError) -> (submission: Submission, ignored: [String]) {
        var reader = ParameterReader(request)
        guard let kind = try reader.word("kind", as: SubjectKind.self) else { throw reader.missing("kind") }
        var submission = Submission(
            kind: kind,
            game: try reader.requiredString("game"),
            player: try reader.string("player"),
            leaderboard: try reader.string("leaderboard"),
            value: try reader.numberText("value"),
            achievement: try reader.string("achievement"),
            progress: try reader.integer("progress"),
            steps: try reader.integer("steps"),
            increment: try reader.integer("increment"),
            occurredAtMilliseconds: try reader.time("occurredAt"),
            clientID: try reader.string("id"),
            metadata: try reader.objectSource("metadata"))
        submission.takenOverAtMilliseconds = try reader.time("spooledAt")
        return (submission, reader.ignored)
    }

    /// The parameters of `submit` that say the same.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["kind"] = .string(kind.rawValue)
        object["game"] = .string(game)
        object["player"] = player.map(JSONValue.string)
        object["leaderboard"] = leaderboard.map(JSONValue.string)
        object["value"] = value.map(JSONValue.string)
        object["achievement"] = achievement.map(JSONValue.string)
        object["progress"] = progress.map { .integer($0) }
        object["steps"] = steps.map { .integer($0) }
        object["increment"] = increment.map { .integer($0) }
        object["occurredAt"] = occurredAtMilliseconds.map { .string(Timestamp.text(milliseconds: $0)) }
        object["spooledAt"] = takenOverAtMilliseconds.map { .string(Timestamp.text(milliseconds: $0)) }
        object["id"] = clientID.map(JSONValue.string)
        // A line feed between the metadata's members would end the request's line.
        object["metadata"] = metadata.map { .raw($0.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }) }
        return object
    }
}

/// The answer to `submit`: the event is on disk.
package struct SubmitAnswer: Sendable, Equatable {
    package var key: EventKey
    /// Whether a better or newer event makes this one unnecessary.
    package var isSuperseded: Bool
    /// Whether the same id and content were submitted before.
    package var isDuplicate: Bool
    /// Parameters that the daemon does not know.
    package var ignored: [String]

    /// Makes an answer.
    package init(key: EventKey, isSuperseded: Bool, isDuplicate: Bool, ignored: [String] = []) {
        self.key = key
        self.isSuperseded = isSuperseded
        self.isDuplicate = isDuplicate
        self.ignored = ignored
    }

    /// Reads an answer; nil where it has no key.
    package init?(json: JSONValue) {
        guard let key = json["key"]?.stringValue.flatMap(EventKey.init) else { return nil }
        self.key = key
        isSuperseded = json["state"]?.stringValue == "superseded"
        isDuplicate = json["duplicate"]?.boolValue ?? false
        ignored = json["ignored"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var object = JSONObject()
        object["key"] = .string(key.description)
        object["state"] = .string(isSuperseded ? "superseded" : "accepted")
        object["duplicate"] = .bool(isDuplicate)
        if !ignored.isEmpty { object["ignored"] = .array(ignored.map(JSONValue.string)) }
        return .object(object)
    }
}
