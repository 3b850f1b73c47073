package import KleosJSON

/// The parameters of `salvage`.
package struct SalvageParameters: Sendable, Equatable {
    /// Which set-aside queue; nil asks for the names of all.
    package var name: String?

    /// Makes parameters.
    package init(name: String?) {
        self.name = name
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        name = try reader.string("name")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["name"] = name.map(JSONValue.string)
        return object
    }
}

/// The answer to `salvage` with a name.
package struct SalvageAnswer: Sendable, Equatable {
    /// Events that are in the queue now and were not before.
    package var brought: Int
    /// Events that were there already.
    package var known: Int
    /// Events that cannot be read.
    package var lost: Int
    /// Events that no configured endpoint takes and whose deliveries cannot be read.
    package var aimless: Int
    package var unreadablePages: Int
    package var unreadableRows: Int

    /// Makes an answer.
    package init(brought: Int, known: Int, lost: Int, aimless: Int, unreadablePages: Int, unreadableRows: Int) {
        self.brought = brought
        self.known = known
        self.lost = lost
        self.aimless = aimless
        self.unreadablePages = unreadablePages
        self.unreadableRows = unreadableRows
    }

    /// Reads an answer; what is missing is 0.
    package init(json: JSONValue) {
        func number(_ name: String) -> Int { Int(clamping: json[name]?.int64Value ?? 0) }
        self.init(
            brought: number("brought"), known: number("known"), lost: number("lost"), aimless: number("aimless"),
            unreadablePages: number("unreadablePages"), unreadableRows: number("unreadableRows"))
    }

    /// The answer's `result`.
    package var json: JSONValue {
        [
            "brought": .integer(brought), "known": .integer(known), "lost": .integer(lost),
            "aimless": .integer(aimless), "unreadablePages": .integer(unreadablePages),
            "unreadableRows": .integer(unreadableRows),
        ]
    }
}
