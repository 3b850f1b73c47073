package import KleosJSON
import KleosModel

/// Faults that cannot be read: which member, and what it may be.
package struct FaultsError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

extension Faults {
    /// Takes over the members of `value`; `null` sets one back. Throws `FaultsError`; then nothing changed.
    package mutating func merge(_ value: JSONValue) throws(FaultsError) {
        guard let object = value.objectValue else { throw FaultsError(description: "faults must be a JSON object") }
        var merged = self
        for member in object.members { try merged.set(member.name, member.value) }
        self = merged
    }

    private mutating func set(_ name: String, _ value: JSONValue) throws(FaultsError) {
        let none = Faults()
        let isNull = value.isNull
        switch name {
        case "down": down = isNull ? nil : try Self.down(value)
        case "failureShare": failureShare = isNull ? 0 : try Self.share(name, value)
        case "failureStatuses":
            failureStatuses = isNull ? none.failureStatuses : try Self.list(name, value) { Self.status($0) }
            if failureStatuses.isEmpty { throw Self.wrong(name, "a list with at least one status") }
        case "seed": seed = isNull ? nil : UInt64(bitPattern: try Self.integer(name, value, in: Int64.min...Int64.max))
        case "latencyMilliseconds": latencyMilliseconds = isNull ? nil : try Self.latency(value)
        case "script": script = isNull ? [] : try Self.steps(value)
        case "retryAfter": retryAfter = isNull ? nil : try Self.headerValue(name, value)
        case "resetAfterBytes": resetAfterBytes = isNull ? nil : Int(try Self.integer(name, value, in: 0...1 << 20))
        case "neverAnswer": neverAnswer = isNull ? 0 : try Self.share(name, value)
        case "dropAnswer": dropAnswer = isNull ? 0 : try Self.share(name, value)
        case "html": html = isNull ? 0 : try Self.share(name, value)
        case "redirect": redirect = isNull ? nil : try Self.headerValue(name, value)
        case "rejectWhere": rejectWhere = isNull ? [] : try Self.rules(value)
        case "notFound": notFound = isNull ? false : try Self.flag(name, value)
        case "unauthorized": unauthorized = isNull ? nil : try Self.unauthorized(value)
        case "count": count = isNull ? nil : Int(try Self.integer(name, value, in: 1...1 << 40))
        default: throw FaultsError(description: "there is no fault \"\(name)\"")
        }
    }

    /// The faults in the form that `merge` reads; what is not set is left out.
    package var json: JSONValue {
        let none = Faults()
        var object = JSONObject()
        object["down"] = down.map { .string($0.rawValue) }
        if failureShare > 0 { object["failureShare"] = Self.number(failureShare) }
        if failureStatuses != none.failureStatuses {
            object["failureStatuses"] = .array(failureStatuses.map { .integer($0) })
        }
        object["seed"] = seed.map { .integer(Int64(bitPattern: $0)) }
        object["latencyMilliseconds"] = latencyMilliseconds.map(Self.json)
        if !script.isEmpty { object["script"] = .array(script.map(\.json)) }
        object["retryAfter"] = retryAfter.map { .string($0) }
        object["resetAfterBytes"] = resetAfterBytes.map { .integer($0) }
        if neverAnswer > 0 { object["neverAnswer"] = Self.number(neverAnswer) }
        if dropAnswer > 0 { object["dropAnswer"] = Self.number(dropAnswer) }
        if html > 0 { object["html"] = Self.number(html) }
        object["redirect"] = redirect.map { .string($0) }
        if !rejectWhere.isEmpty { object["rejectWhere"] = .array(rejectWhere.map(\.json)) }
        if notFound { object["notFound"] = true }
        switch unauthorized {
        case .everybody: object["unauthorized"] = true
        case .players(let players): object["unauthorized"] = .array(players.map { .string($0) })
        case nil: break
        }
        object["count"] = count.map { .integer($0) }
        return .object(object)
    }

    static func json(_ latency: ClosedRange<Int>) -> JSONValue {
        ["min": .integer(latency.lowerBound), "max": .integer(latency.upperBound)]
    }

    private static func number(_ share: Double) -> JSONValue {
        .number(JSONNumber(text: share == 1 ? "1" : "\(share)"))
    }
}

// MARK: - Single members

extension Faults {
    static func wrong(_ name: String, _ expected: String) -> FaultsError {
        FaultsError(description: "\"\(name)\" must be \(expected)")
    }

    private static func down(_ value: JSONValue) throws(FaultsError) -> Down? {
        if let flag = value.boolValue { return flag ? .refuse : nil }
        if value.int64Value == 503 { return .unavailable }
        guard let mode = value.stringValue.flatMap(Down.init) else {
            throw wrong("down", "true, false, \"refuse\" or \"503\"")
        }
        return mode
    }

    private static func share(_ name: String, _ value: JSONValue) throws(FaultsError) -> Double {
        if let flag = value.boolValue { return flag ? 1 : 0 }
        guard let share = value.numberValue?.double, (0...1).contains(share) else {
            throw wrong(name, "a share from 0 to 1, true or false")
        }
        return share
    }

    private static func flag(_ name: String, _ value: JSONValue) throws(FaultsError) -> Bool {
        guard let flag = value.boolValue else { throw wrong(name, "true or false") }
        return flag
    }

    static func integer(
        _ name: String, _ value: JSONValue, in range: ClosedRange<Int64>
    ) throws(FaultsError) -> Int64 {
        guard let number = value.int64Value, range.contains(number) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    static func headerValue(_ name: String, _ value: JSONValue) throws(FaultsError) -> String {
        let text = value.stringValue ?? value.numberValue?.text
        guard let text, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw wrong(name, "a text without control characters")
        }
        return text
    }

    static func latency(_ value: JSONValue) throws(FaultsError) -> ClosedRange<Int> {
        let expected = "milliseconds from 0 to 3600000, or {\"min\": …, \"max\": …}"
        let low = value.int64Value ?? value["min"]?.int64Value
        let high = value.int64Value ?? value["max"]?.int64Value ?? low
        guard let low, let high, low >= 0, low <= high, high <= 3_600_000 else {
            throw wrong("latencyMilliseconds", expected)
        }
        return Int(low)...Int(high)
    }

    private static func steps(_ value: JSONValue) throws(FaultsError) -> [ScriptedStep] {
        guard let elements = value.arrayValue else { throw wrong("script", "a list") }
        var steps: [ScriptedStep] = []
        for element in elements { steps.append(try ScriptedStep(json: element)) }
        return steps
    }

    private static func list<T>(
        _ name: String, _ value: JSONValue, _ element: (JSONValue) -> T?
    ) throws(FaultsError) -> [T] {
        guard let elements = value.arrayValue else { throw wrong(name, "a list") }
        var list: [T] = []
        for (index, value) in elements.enumerated() {
            guard let element = element(value) else {
                throw FaultsError(description: "element \(index) of \"\(name)\" is not understood: \(value.serialized)")
            }
            list.append(element)
        }
        return list
    }

    static func status(_ value: JSONValue) -> Int? {
        value.int64Value.flatMap { (400...599).contains($0) ? Int($0) : nil }
    }

    private static func unauthorized(_ value: JSONValue) throws(FaultsError) -> Unauthorized? {
        if let flag = value.boolValue { return flag ? .everybody : nil }
        if let player = value.stringValue { return .players([player]) }
        return .players(try list("unauthorized", value) { $0.stringValue })
    }

    private static func rules(_ value: JSONValue) throws(FaultsError) -> [RejectRule] {
        guard let elements = value.arrayValue ?? value.objectValue.map({ [.object($0)] }) else {
            throw wrong("rejectWhere", "a list of rules")
        }
        var rules: [RejectRule] = []
        for element in elements { rules.append(try RejectRule(json: element)) }
        return rules
    }
}

extension Faults.Step {
    private static let names: [(String, Self)] = [
        ("ok", .ok), ("close", .close), ("reset", .reset), ("never", .never), ("drop", .drop), ("html", .html),
        ("redirect", .redirect),
    ]

    /// Reads a step: 200, a status of 400 … 599, or a name.
    init?(json value: JSONValue) {
        if value.int64Value == 200 {
            self = .ok
        } else if let status = Faults.status(value) {
            self = .status(status)
        } else if let step = Self.names.first(where: { $0.0 == value.stringValue }) {
            self = step.1
        } else {
            return nil
        }
    }

    var json: JSONValue {
        switch self {
        case .ok: 200
        case .status(let status): .integer(status)
        default: .string(Self.names.first { $0.1 == self }?.0 ?? "ok")
        }
    }
}

extension RejectRule {
    init(json value: JSONValue) throws(FaultsError) {
        guard let object = value.objectValue else { throw Faults.wrong("rejectWhere", "a list of objects") }
        self.init()
        for member in object.members {
            let text = member.value.stringValue ?? member.value.numberValue?.text
            if member.name != "status", text == nil { throw Faults.wrong(member.name, "a text") }
            switch member.name {
            case "game": game = text
            case "leaderboard": leaderboard = text
            case "achievement": achievement = text
            case "player": player = text
            case "value": self.value = text
            case "valueBelow": valueBelow = text
            case "valueAbove": valueAbove = text
            case "status":
                guard let number = Faults.status(member.value) else { throw Faults.wrong("status", "from 400 to 599") }
                status = number
            case "code": code = text ?? code
            case "message": message = text ?? message
            default: throw FaultsError(description: "a rule of \"rejectWhere\" has no member \"\(member.name)\"")
            }
        }
        for number in [self.value, valueBelow, valueAbove] {
            if let number, RejectRule.number(number) == nil {
                throw FaultsError(description: "\"\(number)\" is no decimal number")
            }
        }
    }

    var json: JSONValue {
        var object = JSONObject()
        let conditions = [
            ("game", game), ("leaderboard", leaderboard), ("achievement", achievement), ("player", player),
            ("value", value), ("valueBelow", valueBelow), ("valueAbove", valueAbove),
        ]
        for (name, text) in conditions { object[name] = text.map { .string($0) } }
        object["status"] = .integer(status)
        object["code"] = .string(code)
        object["message"] = .string(message)
        return .object(object)
    }

    /// Reads a decimal number at the finest scale that it needs.
    static func number(_ text: String) -> ScoreValue? {
        for decimals in 0...ScoreValue.maximumDecimals {
            if let value = try? ScoreValue(text: text, decimals: decimals) { return value }
        }
        return nil
    }

    /// Whether the rule rejects `submission`.
    func matches(_ submission: Submission) -> Bool {
        if let game, game != submission.game { return false }
        if let player, player != submission.player { return false }
        switch submission.content {
        case .score(let board, let score, _, _):
            if achievement != nil { return false }
            if let leaderboard, leaderboard != board { return false }
            if let value = value.flatMap(Self.number), score != value { return false }
            if let below = valueBelow.flatMap(Self.number), !(score < below) { return false }
            if let above = valueAbove.flatMap(Self.number), !(score > above) { return false }
            return true
        case .achievement(let id, _, _):
            if leaderboard != nil || value != nil || valueBelow != nil || valueAbove != nil { return false }
            return achievement.map { $0 == id } ?? true
        }
    }
}
