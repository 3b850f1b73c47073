import KleosJSON
import KleosModel
import KleosStore
import KleosSupport

/// Standings and notices as lines of an export, written and read.
enum MovedRest {
    static func json(_ standing: SalvagedStanding) -> JSONValue {
        var object = JSONObject()
        object["endpoint"] = .string(standing.stream.endpoint)
        object["game"] = .string(standing.stream.game)
        object["player"] = .string(standing.stream.player)
        object["kind"] = .string(standing.stream.kind.rawValue)
        object["item"] = .string(standing.stream.item)
        switch standing.confirmed.measure {
        case .value(let value):
            object["units"] = .integer(value.units)
            object["decimals"] = .integer(value.decimals)
        case .progress(let percent): object["progress"] = .integer(percent)
        case .steps(let count): object["steps"] = .integer(count)
        }
        object["at"] = .integer(standing.confirmed.atMilliseconds)
        object["rank"] = standing.confirmed.rank.map { .integer($0) }
        return ["standing": .object(object)]
    }

    static func json(_ notice: Notice) -> JSONValue {
        var object = JSONObject()
        object["key"] = .string(notice.key.description)
        object["game"] = .string(notice.game)
        object["player"] = .string(notice.player)
        object["uid"] = .integer(notice.uid)
        object["kind"] = .string(notice.facts.kind.rawValue)
        object["item"] = .string(notice.facts.item)
        object["units"] = notice.facts.value.map { .integer($0.units) }
        object["decimals"] = notice.facts.value.map { .integer($0.decimals) }
        object["rank"] = notice.facts.rank.map { .integer($0) }
        object["changed"] = notice.facts.changed.map(JSONValue.bool)
        object["created"] = .integer(notice.createdMilliseconds)
        return ["notice": .object(object)]
    }

    /// Reads a standing; nil where the line is none.
    static func standing(_ line: JSONValue) -> SalvagedStanding? {
        guard let json = line["standing"], let endpoint = json["endpoint"]?.stringValue,
            let game = json["game"]?.stringValue, let player = json["player"]?.stringValue,
            let kind = json["kind"]?.stringValue.flatMap(SubjectKind.init), let item = json["item"]?.stringValue,
            let measure = measure(json), let time = MovedEvent.time(json["at"])
        else { return nil }
        return SalvagedStanding(
            stream: StreamKey(endpoint: endpoint, game: game, player: player, kind: kind, item: item),
            confirmed: StandingMark(measure: measure, atMilliseconds: time, rank: json["rank"]?.int64Value))
    }

    private static func measure(_ json: JSONValue) -> StandingMeasure? {
        if let value = value(json) { return .value(value) }
        if let percent = json["progress"]?.int64Value { return .progress(Int(clamping: percent)) }
        return json["steps"]?.int64Value.map(StandingMeasure.steps)
    }

    private static func value(_ json: JSONValue) -> ScoreValue? {
        guard let units = json["units"]?.int64Value, let decimals = json["decimals"]?.int64Value,
            (0...9).contains(decimals)
        else { return nil }
        return ScoreValue(units: units, decimals: Int(decimals))
    }

    /// Reads a notice; nil where the line is none.
    static func notice(_ line: JSONValue) -> Notice? {
        guard let json = line["notice"], let key = json["key"]?.stringValue.flatMap(EventKey.init),
            let game = json["game"]?.stringValue, let player = json["player"]?.stringValue,
            let uid = json["uid"]?.int64Value.flatMap(UInt32.init(exactly:)),
            let kind = json["kind"]?.stringValue.flatMap(SubjectKind.init), let item = json["item"]?.stringValue,
            let created = MovedEvent.time(json["created"])
        else { return nil }
        return Notice(
            number: 0, key: key, game: game, player: player, uid: uid,
            facts: NoticeFacts(
                kind: kind, item: item, value: value(json), rank: json["rank"]?.int64Value,
                changed: json["changed"]?.boolValue), createdMilliseconds: created)
    }
}
