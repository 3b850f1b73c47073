package import KleosJSON
package import KleosModel

/// An endpoint's part of the answer to `status`.
package struct EndpointRow: Sendable, Equatable {
    package var name: String
    package var url: String
    /// `up`, `failing` or `paused`.
    package var condition: String
    /// Why it is not up, in a word of `TroubleCause`.
    package var cause: String?
    package var reason: String?
    package var sinceMilliseconds: Int64?
    package var lastSuccessMilliseconds: Int64?
    package var lastError: String?
    package var nextProbeMilliseconds: Int64?
    /// Until when the endpoint asked not to be called.
    package var throttledUntilMilliseconds: Int64?
    /// How many players or boards the endpoint asked to be spared.
    package var throttleCount = 0
    /// Those of them whose throttles last longest, at most `maximumThrottles`.
    package var throttles: [PartialThrottle] = []
    package var inFlight: Int
    /// waiting, ready, sending and held.
    package var undelivered: Int
    package var dead: Int
    package var oldestUndeliveredMilliseconds: Int64?
    /// Deliveries by state; a state without any may be missing.
    package var counts: [DeliveryState: Int] = [:]
    /// Why the oldest of what is held is held, in words of `DeliveryReason`; each once.
    package var heldReasons: [String] = []

    /// Players or boards that are named, of those that are throttled.
    package static let maximumThrottles = 10

    /// Makes a row from its parts.
    package init(
        name: String, url: String, condition: String, cause: String? = nil, reason: String?, sinceMilliseconds: Int64?,
        lastSuccessMilliseconds: Int64?, lastError: String?, nextProbeMilliseconds: Int64?,
        throttledUntilMilliseconds: Int64? = nil, inFlight: Int, undelivered: Int, dead: Int,
        oldestUndeliveredMilliseconds: Int64?
    ) {
        self.name = name
        self.url = url
        self.condition = condition
        self.cause = cause
        self.reason = reason
        self.sinceMilliseconds = sinceMilliseconds
        self.lastSuccessMilliseconds = lastSuccessMilliseconds
        self.lastError = lastError
        self.nextProbeMilliseconds = nextProbeMilliseconds
        self.throttledUntilMilliseconds = throttledUntilMilliseconds
        self.inFlight = inFlight
        self.undelivered = undelivered
        self.dead = dead
        self.oldestUndeliveredMilliseconds = oldestUndeliveredMilliseconds
    }

    /// Reads a row; what is missing is empty.
    package init(json: JSONValue) {
        name = json["name"]?.stringValue ?? ""
        url = json["url"]?.stringValue ?? ""
        condition = json["condition"]?.stringValue ?? ""
        cause = json["cause"]?.stringValue
        reason = json["reason"]?.stringValue
        sinceMilliseconds = json.time("since")
        lastSuccessMilliseconds = json.time("lastSuccessAt")
        lastError = json["lastError"]?.stringValue
        nextProbeMilliseconds = json.time("nextProbeAt")
        throttledUntilMilliseconds = json.time("throttledUntil")
        throttleCount = Int(clamping: json["throttleCount"]?.int64Value ?? 0)
        throttles = json["throttles"]?.arrayValue?.compactMap(PartialThrottle.init) ?? []
        inFlight = Int(clamping: json["inFlight"]?.int64Value ?? 0)
        undelivered = Int(clamping: json["undelivered"]?.int64Value ?? 0)
        dead = Int(clamping: json["dead"]?.int64Value ?? 0)
        oldestUndeliveredMilliseconds = json.time("oldestUndeliveredAt")
        counts = StateCounts.read(json["counts"])
        heldReasons = json["heldReasons"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The row as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        object["name"] = .string(name)
        object["url"] = .string(url)
        object["condition"] = .string(condition)
        object["cause"] = cause.map(JSONValue.string)
        object["reason"] = reason.map(JSONValue.string)
        object.set(time: sinceMilliseconds, as: "since")
        object.set(time: lastSuccessMilliseconds, as: "lastSuccessAt")
        object["lastError"] = lastError.map(JSONValue.string)
        object.set(time: nextProbeMilliseconds, as: "nextProbeAt")
        object.set(time: throttledUntilMilliseconds, as: "throttledUntil")
        if throttleCount > 0 { object["throttleCount"] = .integer(throttleCount) }
        if !throttles.isEmpty { object["throttles"] = .array(throttles.map(\.json)) }
        object["inFlight"] = .integer(inFlight)
        object["undelivered"] = .integer(undelivered)
        object["dead"] = .integer(dead)
        object.set(time: oldestUndeliveredMilliseconds, as: "oldestUndeliveredAt")
        if !counts.isEmpty { object["counts"] = StateCounts.json(counts) }
        if !heldReasons.isEmpty { object["heldReasons"] = .array(heldReasons.map(JSONValue.string)) }
        return .object(object)
    }
}

extension PartialThrottle {
    /// Reads a throttle; nil where its scope or its end is missing.
    fileprivate init?(json: JSONValue) {
        guard let scope = json["scope"]?.stringValue.flatMap(ThrottleScope.init), let until = json.time("until") else {
            return nil
        }
        self.init(
            scope: scope, name: json["name"]?.stringValue, game: json["game"]?.stringValue, untilMilliseconds: until)
    }

    fileprivate var json: JSONValue {
        var object = JSONObject()
        object["scope"] = .string(scope.rawValue)
        object["name"] = name.map(JSONValue.string)
        object["game"] = game.map(JSONValue.string)
        object.set(time: untilMilliseconds, as: "until")
        return .object(object)
    }
}

/// Numbers of deliveries by state, as they are written.
enum StateCounts {
    static func read(_ json: JSONValue?) -> [DeliveryState: Int] {
        var counts: [DeliveryState: Int] = [:]
        for state in DeliveryState.allCases {
            if let count = json?[state.rawValue]?.int64Value { counts[state] = Int(clamping: count) }
        }
        return counts
    }

    static func json(_ counts: [DeliveryState: Int]) -> JSONValue {
        var object = JSONObject()
        for state in DeliveryState.allCases { object[state.rawValue] = counts[state].map { .integer($0) } }
        return .object(object)
    }
}
