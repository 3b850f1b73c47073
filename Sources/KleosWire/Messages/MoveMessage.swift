package import KleosJSON

/// The parameters of `export`.
package struct ExportParameters: Sendable, Equatable {
    /// What an earlier answer brought; nil begins.
    package var cursor: String?
    /// Whether what is exported is held here from then on.
    package var isHeld: Bool

    /// Makes parameters.
    package init(cursor: String?, isHeld: Bool) {
        self.cursor = cursor
        self.isHeld = isHeld
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        cursor = try reader.string("cursor")
        isHeld = try reader.flag("hold")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["cursor"] = cursor.map(JSONValue.string)
        if isHeld { object["hold"] = true }
        return object
    }
}

/// The answer to `export`.
package struct ExportAnswer: Sendable {
    /// Objects for the lines of a file.
    package var lines: [JSONValue]
    /// Where it goes on; nil at the end.
    package var cursor: String?
    /// Whether these are the last lines. A cursor then is for when they are safe: only that ends an export that holds.
    package var isWhole: Bool
    package var done: Int64
    package var total: Int64

    /// Makes an answer.
    package init(lines: [JSONValue], cursor: String?, isWhole: Bool = false, done: Int64, total: Int64) {
        self.lines = lines
        self.cursor = cursor
        self.isWhole = isWhole
        self.done = done
        self.total = total
    }

    /// Reads an answer; what is missing is empty.
    package init(json: JSONValue) {
        lines = json["lines"]?.arrayValue ?? []
        cursor = json["cursor"]?.stringValue
        isWhole = json["whole"]?.boolValue ?? false
        done = json["done"]?.int64Value ?? 0
        total = json["total"]?.int64Value ?? 0
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var object = JSONObject()
        object["lines"] = .array(lines)
        object["cursor"] = cursor.map(JSONValue.string)
        object["whole"] = .bool(isWhole)
        object["done"] = .integer(done)
        object["total"] = .integer(total)
        return .object(object)
    }
}

/// The parameters of `import`.
package struct ImportParameters: Sendable {
    /// Objects of an export, in its order.
    package var lines: [JSONValue]
    /// Whether the other queue holds what it exported, so that nobody else sends it.
    package var isHeld: Bool

    /// Objects in one request.
    package static let maximumLines = 256

    /// Makes parameters.
    package init(lines: [JSONValue], isHeld: Bool) {
        self.lines = lines
        self.isHeld = isHeld
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        guard let lines = reader.value("lines")?.arrayValue else {
            throw RPCError(.invalidParameter, "lines must be a list of objects of an export", field: "lines")
        }
        guard lines.count <= Self.maximumLines else {
            throw RPCError(.tooLarge, "at most \(Self.maximumLines) lines in one request", field: "lines")
        }
        self.lines = lines
        isHeld = try reader.flag("held")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["lines"] = .array(lines)
        object["held"] = .bool(isHeld)
        return object
    }
}

/// The answer to `import`.
package struct ImportAnswer: Sendable, Equatable {
    /// Events that are in the queue now and were not before.
    package var brought = 0
    /// Events that were there already.
    package var known = 0
    /// Events that no configured endpoint takes.
    package var aimless = 0

    /// Makes an answer.
    package init(brought: Int = 0, known: Int = 0, aimless: Int = 0) {
        self.brought = brought
        self.known = known
        self.aimless = aimless
    }

    /// Reads an answer; what is missing is 0.
    package init(json: JSONValue) {
        func number(_ name: String) -> Int { Int(clamping: json[name]?.int64Value ?? 0) }
        self.init(brought: number("brought"), known: number("known"), aimless: number("aimless"))
    }

    /// The answer's `result`.
    package var json: JSONValue {
        ["brought": .integer(brought), "known": .integer(known), "aimless": .integer(aimless)]
    }
}
