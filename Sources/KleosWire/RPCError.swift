package import KleosJSON
package import KleosModel

/// The stable words for what went wrong; `data.reason` of an error answer.
package enum ErrorReason: String, Sendable, CaseIterable {
    /// The line is no JSON.
    case parseError = "parse-error"
    /// The JSON is no JSON-RPC 2.0 request.
    case invalidRequest = "invalid-request"
    case unknownMethod = "unknown-method"
    /// A parameter is missing, of the wrong type, or contradicts another.
    case invalidParameter = "invalid-parameter"
    /// The daemon failed; its log says how.
    case internalError = "internal-error"
    case unknownGame = "unknown-game"
    case unknownLeaderboard = "unknown-leaderboard"
    case unknownAchievement = "unknown-achievement"
    case unknownEndpoint = "unknown-endpoint"
    case playerRequired = "player-required"
    case playerNotAllowed = "player-not-allowed"
    /// The value is out of range.
    case invalidValue = "invalid-value"
    /// The id was used before, for another event.
    case idConflict = "id-conflict"
    /// The queue or the disk is full; try again later under the same id.
    case queueFull = "queue-full"
    case notPermitted = "not-permitted"
    /// The line, the metadata or a name is too long.
    case tooLarge = "too-large"
    /// The user submits more events than are allowed in a minute.
    case rateLimited = "rate-limited"
    /// Too many connections.
    case tooManyConnections = "too-many-connections"
    case notFound = "not-found"
    /// The request needs a JSON-RPC id, because its answer matters.
    case idRequired = "id-required"
    /// It cannot be done now: the daemon is stopping, its configuration has errors, or the game has no endpoint.
    case unavailable
    /// The new configuration has errors; the old one stays in force.
    case reloadFailed = "reload-failed"

    /// The number in the answer's `code`: the JSON-RPC ones, and from -32001 down kleos's own.
    package var code: Int {
        switch self {
        case .parseError: -32700
        case .invalidRequest, .idRequired: -32600
        case .unknownMethod: -32601
        case .invalidParameter: -32602
        case .internalError: -32603
        case .unknownGame: -32001
        case .unknownLeaderboard: -32002
        case .unknownAchievement: -32003
        case .unknownEndpoint: -32004
        case .playerRequired: -32005
        case .playerNotAllowed: -32006
        case .invalidValue: -32007
        case .idConflict: -32008
        case .queueFull: -32009
        case .notPermitted: -32010
        case .tooLarge: -32011
        case .rateLimited: -32012
        case .tooManyConnections: -32013
        case .notFound: -32014
        case .unavailable: -32015
        case .reloadFailed: -32016
        }
    }
}

/// An error answer: a stable reason, a sentence for people, the parameter at fault, and more where it helps.
package struct RPCError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The word in `data.reason`; a client keeps words that it does not know.
    package var reason: String
    package var code: Int
    package var message: String
    /// The parameter at fault.
    package var field: String?
    /// Further members of `data`.
    package var details: JSONObject

    /// Makes an error for one of the known reasons.
    package init(_ reason: ErrorReason, _ message: String, field: String? = nil, details: JSONObject = JSONObject()) {
        self.reason = reason.rawValue
        code = reason.code
        self.message = message
        self.field = field
        self.details = details
    }

    /// Makes an error of a refused submission.
    package init(_ rejection: Rejection) {
        // Both enumerations use the protocol's words; a test holds them together.
        let reason = ErrorReason(rawValue: rejection.reason.rawValue) ?? .invalidParameter
        self.init(reason, rejection.message, field: rejection.field)
    }

    /// Reads the `error` member of an answer; nil where it is none.
    package init?(json: JSONValue) {
        guard let code = json["code"]?.int64Value, let message = json["message"]?.stringValue else { return nil }
        self.code = Int(clamping: code)
        self.message = message
        let data = json["data"]
        reason = data?["reason"]?.stringValue ?? "code \(code)"
        field = data?["field"]?.stringValue
        details = data?.objectValue ?? JSONObject()
        details["reason"] = nil
        details["field"] = nil
    }

    /// The reason as one of the known ones; nil for a word of a newer daemon.
    package var knownReason: ErrorReason? { ErrorReason(rawValue: reason) }

    /// The `error` member of an answer.
    package var json: JSONValue {
        var data = JSONObject()
        data["reason"] = .string(reason)
        data["field"] = field.map(JSONValue.string)
        for member in details.members where data[member.name] == nil { data[member.name] = member.value }
        return ["code": .integer(code), "message": .string(message), "data": .object(data)]
    }

    package var description: String { "\(message) (\(reason))" }
}
