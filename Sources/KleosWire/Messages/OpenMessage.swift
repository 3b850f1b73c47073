package import KleosJSON

/// The parameters of `notices.open`: the player wants to see the game that a notice is about.
package struct OpenNoticeParameters: Sendable, Equatable {
    /// The notice's number.
    package var number: Int64
    /// What the desktop gave for the game's window to come to the front with (xdg-activation).
    package var activationToken: String?

    /// Makes parameters.
    package init(number: Int64, activationToken: String? = nil) {
        self.number = number
        self.activationToken = activationToken
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        guard let number = try reader.integer("number") else { throw reader.missing("number") }
        self.number = number
        activationToken = try reader.string("activationToken")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["number"] = .integer(number)
        object["activationToken"] = activationToken.map(JSONValue.string)
        return object
    }
}

/// The answer to `notices.open`.
package struct OpenNoticeAnswer: Sendable, Equatable {
    /// How the game is: `foreground`, `background` or `not-running`.
    package var state: String
    /// Whether the running game was told, and so brings itself forward.
    package var isTold: Bool
    /// What starts the game, where it was not told; empty where its file does not say.
    package var start: [String]
    package var notice: NoticeRow

    /// The state of a game that is not connected.
    package static let notRunning = "not-running"

    /// Makes an answer.
    package init(state: String, isTold: Bool, start: [String], notice: NoticeRow) {
        self.state = state
        self.isTold = isTold
        self.start = start
        self.notice = notice
    }

    /// Reads an answer; nil where it is none.
    package init?(json: JSONValue) {
        guard let notice = json["notice"].flatMap(NoticeRow.init), let state = json["state"]?.stringValue else {
            return nil
        }
        self.notice = notice
        self.state = state
        isTold = json["told"]?.boolValue ?? false
        start = json["start"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var object = JSONObject()
        object["state"] = .string(state)
        object["told"] = .bool(isTold)
        if !start.isEmpty { object["start"] = .array(start.map(JSONValue.string)) }
        object["notice"] = notice.json
        return .object(object)
    }
}

/// The notification `open`: a game is to come forward and show what a notice was about.
package struct OpenMessage: Sendable, Equatable {
    /// The notification's method.
    package static let method = "open"

    package var notice: NoticeRow
    package var activationToken: String?

    /// Makes a message.
    package init(notice: NoticeRow, activationToken: String?) {
        self.notice = notice
        self.activationToken = activationToken
    }

    /// Reads a message; nil where it is none.
    package init?(json: JSONValue) {
        guard let notice = NoticeRow(json: json) else { return nil }
        self.notice = notice
        activationToken = json["activationToken"]?.stringValue
    }

    /// The notification's parameters: the notice, and the token.
    package var json: JSONValue {
        var object = notice.json.objectValue ?? JSONObject()
        object["activationToken"] = activationToken.map(JSONValue.string)
        return .object(object)
    }
}
