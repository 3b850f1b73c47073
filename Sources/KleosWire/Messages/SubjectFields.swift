package import KleosJSON
package import KleosModel

/// What an event is about, as the flat members that every row of an answer carries.
package struct SubjectFields: Sendable, Equatable {
    package var kind: SubjectKind
    /// The leaderboard's or achievement's id.
    package var item: String
    /// The score, in plain decimal form.
    package var value: String?
    /// The score as people read it, where its leaderboard is known.
    package var display: String?
    package var progress: Int64?
    package var steps: Int64?
    package var increment: Int64?

    /// Takes the fields of a subject, and the words of its leaderboard in `game`.
    package init(_ subject: Subject, game: Game? = nil) {
        kind = subject.kind
        item = subject.item
        switch subject {
        case .score(let id, let score):
            value = score.description
            display = game?.leaderboards[id].map { ScoreText.text(score, format: $0.format) }
        case .achievement(_, .progress(let percent)): progress = Int64(percent)
        case .achievement(_, .steps(let count)): steps = count
        case .achievement(_, .increment(let count)): increment = count
        }
    }

    /// Reads the members; nil where the kind is not known.
    package init?(json: JSONValue) {
        guard let kind = json["kind"]?.stringValue.flatMap(SubjectKind.init) else { return nil }
        self.kind = kind
        item = json[kind == .score ? "leaderboard" : "achievement"]?.stringValue ?? ""
        value = json["value"]?.stringValue
        display = json["display"]?.stringValue
        progress = json["progress"]?.int64Value
        steps = json["steps"]?.int64Value
        increment = json["increment"]?.int64Value
    }

    /// Adds the members to a row.
    package func write(to object: inout JSONObject) {
        object["kind"] = .string(kind.rawValue)
        object[kind == .score ? "leaderboard" : "achievement"] = .string(item)
        object["value"] = value.map(JSONValue.string)
        object["display"] = display.map(JSONValue.string)
        object["progress"] = progress.map { .integer($0) }
        object["steps"] = steps.map { .integer($0) }
        object["increment"] = increment.map { .integer($0) }
    }
}

extension JSONObject {
    /// Sets `name` to a time in RFC 3339, or leaves it out.
    package mutating func set(time milliseconds: Int64?, as name: String) {
        self[name] = milliseconds.map { .string(Timestamp.text(milliseconds: $0)) }
    }
}

extension JSONValue {
    /// The member `name` as Unix milliseconds, where it is a time in RFC 3339.
    package func time(_ name: String) -> Int64? {
        self[name]?.stringValue.flatMap { Timestamp.milliseconds(text: $0) }
    }
}
