import KleosJSON
import KleosModel
import KleosStore
import KleosSupport

/// An event with its deliveries as a line of an export, written and read.
enum MovedEvent {
    /// A line is at most so long, so that it fits into a request; receipts, which explain and do not decide, are
    /// shortened for that.
    static let maximumBytes = 48 << 10

    static func json(_ moved: SalvagedEvent) -> JSONValue {
        var moved = moved
        let whole = line(moved)
        if whole.serializedBytes.count <= maximumBytes { return whole }
        for index in moved.deliveries.indices {
            moved.deliveries[index].receipt = moved.deliveries[index].receipt.map { attempt in
                var attempt = attempt
                attempt.answer = nil
                return attempt
            }
        }
        let short = line(moved)
        if short.serializedBytes.count <= maximumBytes { return short }
        for index in moved.deliveries.indices {
            moved.deliveries[index].receipt = Array(moved.deliveries[index].receipt.suffix(1))
        }
        return line(moved)
    }

    private static func line(_ moved: SalvagedEvent) -> JSONValue {
        ["event": .object(event(moved.event)), "deliveries": .array(moved.deliveries.map(delivery))]
    }

    // MARK: Writing

    private static func event(_ event: Event) -> JSONObject {
        var object = JSONObject()
        object["key"] = .string(event.key.description)
        object["id"] = event.clientID.map(JSONValue.string)
        object["game"] = .string(event.game)
        object["player"] = .string(event.player)
        object["kind"] = .string(event.subject.kind.rawValue)
        object["item"] = .string(event.subject.item)
        switch event.subject {
        case .score(_, let value):
            object["units"] = .integer(value.units)
            object["decimals"] = .integer(value.decimals)
        case .achievement(_, .progress(let percent)): object["progress"] = .integer(percent)
        case .achievement(_, .steps(let count)): object["steps"] = .integer(count)
        case .achievement(_, .increment(let count)): object["increment"] = .integer(count)
        }
        object["occurred"] = event.occurredAtMilliseconds.map { .integer($0) }
        object["metadata"] = event.metadata.map { .string(String(decoding: $0, as: UTF8.self)) }
        object["wall"] = .integer(event.recorded.wallMilliseconds)
        object["boot"] = .integer(event.recorded.bootMilliseconds)
        object["bootID"] = .string(event.recorded.bootID)
        object["synchronized"] = .bool(event.recorded.isSynchronized)
        object["uid"] = .integer(event.submitter.uid)
        object["pid"] = .integer(event.submitter.pid)
        object["executable"] = event.submitter.executable.map(JSONValue.string)
        object["unit"] = event.submitter.unit.map(JSONValue.string)
        return object
    }

    private static func delivery(_ delivery: SalvagedEvent.Delivery) -> JSONValue {
        var object = JSONObject()
        object["endpoint"] = .string(delivery.endpoint)
        object["merge"] = .string(word(delivery.way.merge))
        object["strict"] = .bool(delivery.way.isStrict)
        object["priority"] = .integer(delivery.way.priority.rawValue)
        object["confirms"] = .bool(delivery.way.confirms)
        object["state"] = .string(delivery.state.rawValue)
        object["reason"] = delivery.reason.map(JSONValue.string)
        object["message"] = delivery.message.map(JSONValue.string)
        object["due"] = .integer(delivery.dueMilliseconds)
        object["attempts"] = .integer(delivery.attempts)
        object["inherited"] = .integer(delivery.inherited)
        object["serverErrors"] = .integer(delivery.serverErrors)
        object["unanswered"] = .bool(delivery.isUnanswered)
        object["ignoresAge"] = .bool(delivery.ignoresAge)
        object["discarded"] = .bool(delivery.isDiscarded)
        object["settled"] = delivery.settledMilliseconds.map { .integer($0) }
        object["rank"] = delivery.confirmation.rank.map { .integer($0) }
        object["best"] = delivery.confirmation.best.map(JSONValue.string)
        object["changed"] = delivery.confirmation.changed.map(JSONValue.bool)
        object["unlocked"] = delivery.confirmation.unlocked.map(JSONValue.bool)
        object["replacedForGood"] = .bool(delivery.isReplacedForGood)
        // What is no text is rendered anew.
        object["rendering"] = delivery.rendering.flatMap { String(validating: $0, as: UTF8.self) }.map(JSONValue.string)
        object["receipt"] = .array(delivery.receipt.map(attempt))
        return .object(object)
    }

    private static func attempt(_ attempt: Attempt) -> JSONValue {
        var object = JSONObject()
        object["number"] = .integer(attempt.number)
        object["started"] = .integer(attempt.startedMilliseconds)
        object["duration"] = .integer(attempt.durationMilliseconds)
        object["outcome"] = .string(attempt.outcome.rawValue)
        object["status"] = attempt.status.map { .integer($0) }
        object["error"] = attempt.error.map(JSONValue.string)
        object["answer"] = attempt.answer.map(JSONValue.string)
        return .object(object)
    }

    private static func word(_ merge: MergeRule) -> String {
        switch merge {
        case .none: "none"
        case .best(.ascending): "lowest"
        case .best(.descending): "highest"
        case .latest: "latest"
        }
    }

    private static func merge(_ word: String?) -> MergeRule? {
        switch word {
        case "none": MergeRule.none
        case "lowest": .best(.ascending)
        case "highest": .best(.descending)
        case "latest": .latest
        default: nil
        }
    }

    // MARK: Reading

    /// Reads a line; nil where it is none of an export.
    static func read(_ json: JSONValue) -> SalvagedEvent? {
        guard let event = json["event"].flatMap(event), let list = json["deliveries"]?.arrayValue else { return nil }
        let deliveries = list.compactMap(delivery)
        guard deliveries.count == list.count, Set(deliveries.map(\.endpoint)).count == list.count else { return nil }
        return SalvagedEvent(event: event, deliveries: deliveries)
    }

    private static func event(_ json: JSONValue) -> Event? {
        guard let key = json["key"]?.stringValue.flatMap(EventKey.init), let game = name(json["game"]),
            let player = name(json["player"]), let subject = subject(json), let wall = time(json["wall"]),
            isTime(json["occurred"]), let uid = json["uid"]?.int64Value.flatMap(UInt32.init(exactly:))
        else { return nil }
        let metadata = json["metadata"]?.stringValue.map { Array($0.utf8) }
        guard metadata?.count ?? 0 <= Limits.metadataBytes else { return nil }
        return Event(
            key: key, clientID: name(json["id"]), game: game, player: player, subject: subject,
            occurredAtMilliseconds: json["occurred"]?.int64Value, metadata: metadata,
            recorded: ClockReading(
                wallMilliseconds: wall, bootMilliseconds: max(0, json["boot"]?.int64Value ?? 0),
                monotonicMilliseconds: 0,
                bootID: json["bootID"]?.stringValue ?? "", isSynchronized: json["synchronized"]?.boolValue ?? false),
            submitter: Submitter(
                uid: uid, pid: Int32(truncatingIfNeeded: json["pid"]?.int64Value ?? 0),
                executable: json["executable"]?.stringValue, unit: json["unit"]?.stringValue))
    }

    /// A name as submissions may have it.
    private static func name(_ json: JSONValue?) -> String? {
        json?.stringValue.flatMap { (1...128).contains($0.utf8.count) && !$0.utf8.contains(0) ? $0 : nil }
    }

    /// A time that can be written; nil for anything else.
    static func time(_ json: JSONValue?) -> Int64? {
        json?.int64Value.flatMap { Timestamp.writable.contains($0) ? $0 : nil }
    }

    /// Whether it is such a time, or absent.
    private static func isTime(_ json: JSONValue?) -> Bool { json == nil || time(json) != nil }

    /// A number of tries and the like, as far as sums with it fit.
    private static func count(_ json: JSONValue?) -> Int64 {
        min(max(0, json?.int64Value ?? 0), Int64(Int32.max))
    }

    private static func subject(_ json: JSONValue) -> Subject? {
        guard let item = name(json["item"]) else { return nil }
        switch json["kind"]?.stringValue {
        case SubjectKind.score.rawValue:
            guard let units = json["units"]?.int64Value, let decimals = json["decimals"]?.int64Value,
                (0...9).contains(decimals)
            else { return nil }
            return .score(leaderboard: item, value: ScoreValue(units: units, decimals: Int(decimals)))
        case SubjectKind.achievement.rawValue:
            if let percent = json["progress"]?.int64Value, (0...100).contains(percent) {
                return .achievement(id: item, change: .progress(Int(percent)))
            }
            if let count = json["steps"]?.int64Value, count >= 0 {
                return .achievement(id: item, change: .steps(count))
            }
            guard let count = json["increment"]?.int64Value, count > 0 else { return nil }
            return .achievement(id: item, change: .increment(count))
        default: return nil
        }
    }

    private static func delivery(_ json: JSONValue) -> SalvagedEvent.Delivery? {
        func flag(_ name: String) -> Bool { json[name]?.boolValue ?? false }
        guard let endpoint = name(json["endpoint"]), let merge = merge(json["merge"]?.stringValue),
            let state = json["state"]?.stringValue.flatMap(DeliveryState.init),
            let priority = DeliveryPriority(rawValue: Int(clamping: json["priority"]?.int64Value ?? -1)),
            isTime(json["due"]), isTime(json["settled"])
        else { return nil }
        return SalvagedEvent.Delivery(
            endpoint: endpoint,
            way: FanOut(
                endpoint: endpoint, merge: merge, isStrict: flag("strict"), priority: priority,
                confirms: flag("confirms")),
            state: state, reason: json["reason"]?.stringValue.flatMap(DeliveryReason.init)?.rawValue,
            message: json["message"]?.stringValue, dueMilliseconds: json["due"]?.int64Value ?? 0,
            attempts: count(json["attempts"]), inherited: count(json["inherited"]),
            serverErrors: count(json["serverErrors"]), isUnanswered: flag("unanswered"),
            ignoresAge: flag("ignoresAge"), isDiscarded: flag("discarded"),
            settledMilliseconds: json["settled"]?.int64Value,
            confirmation: Confirmation(
                rank: json["rank"]?.int64Value, best: json["best"]?.stringValue, changed: json["changed"]?.boolValue,
                unlocked: json["unlocked"]?.boolValue),
            isReplacedForGood: flag("replacedForGood"),
            rendering: json["rendering"]?.stringValue.map { Array($0.utf8) },
            receipt: (json["receipt"]?.arrayValue ?? []).compactMap(attempt))
    }

    private static func attempt(_ json: JSONValue) -> Attempt? {
        guard let number = json["number"]?.int64Value, number > 0, let started = time(json["started"]),
            let outcome = json["outcome"]?.stringValue.flatMap(Outcome.init)
        else { return nil }
        return Attempt(
            number: Int(count(json["number"])), startedMilliseconds: started,
            durationMilliseconds: count(json["duration"]), outcome: outcome,
            status: json["status"]?.int64Value.map { Int(clamping: $0) }, error: json["error"]?.stringValue,
            answer: json["answer"]?.stringValue)
    }
}
