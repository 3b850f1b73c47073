package import KleosJSON
package import KleosModel

/// The room that one user's events take.
package struct UserRow: Sendable, Equatable {
    package var uid: UInt32
    package var usedBytes: Int64

    /// Makes a row.
    package init(uid: UInt32, usedBytes: Int64) {
        self.uid = uid
        self.usedBytes = usedBytes
    }

    /// Reads a row; nil where it is none.
    package init?(json: JSONValue) {
        guard let uid = json["uid"]?.int64Value.flatMap(UInt32.init(exactly:)) else { return nil }
        self.uid = uid
        usedBytes = json["usedBytes"]?.int64Value ?? 0
    }

    /// The row as JSON.
    package var json: JSONValue { ["uid": .integer(uid), "usedBytes": .integer(usedBytes)] }
}

/// The answer to `status`.
package struct StatusAnswer: Sendable, Equatable {
    package var version: String
    package var uptimeSeconds: Int64
    package var path: String
    package var usedBytes: Int64
    package var limitBytes: Int64
    package var freeBytes: Int64
    package var floorBytes: Int64
    /// What the events of one user may take; nil for no limit.
    package var userLimitBytes: Int64?
    /// Who asks; on the control socket, those whose events take the most.
    package var users: [UserRow]
    /// Whether new events are taken.
    package var isAccepting: Bool
    package var counts: [DeliveryState: Int]
    package var endpoints: [EndpointRow]
    package var pendingNotices: Int
    /// The errors of the configuration, while for them nothing is taken or sent; empty for who is no operator.
    package var fault: String?
    /// How the spool is; nil where the daemon has none.
    package var spool: SpoolStatus?
    package var machine = MachineRow()
    /// Events that an operator erased.
    package var forgottenEvents = 0
    /// Dead deliveries that were removed because there were more than the limit.
    package var removedDead = 0
    /// Receipts that were removed early because their room was needed.
    package var removedReceipts = 0
    /// Names of queues that were set aside; for operators.
    package var setAside: [String] = []

    /// Makes an answer from its parts.
    package init(
        version: String = ProtocolVersion.program, uptimeSeconds: Int64, path: String, usedBytes: Int64,
        limitBytes: Int64, freeBytes: Int64, floorBytes: Int64, userLimitBytes: Int64? = nil, users: [UserRow] = [],
        isAccepting: Bool, counts: [DeliveryState: Int], endpoints: [EndpointRow], pendingNotices: Int,
        spool: SpoolStatus? = nil
    ) {
        self.spool = spool
        self.version = version
        self.uptimeSeconds = uptimeSeconds
        self.path = path
        self.usedBytes = usedBytes
        self.limitBytes = limitBytes
        self.freeBytes = freeBytes
        self.floorBytes = floorBytes
        self.userLimitBytes = userLimitBytes
        self.users = users
        self.isAccepting = isAccepting
        self.counts = counts
        self.endpoints = endpoints
        self.pendingNotices = pendingNotices
    }

    /// Reads an answer; what is missing is empty.
    package init(json: JSONValue) {
        let storage = json["storage"]
        version = json["version"]?.stringValue ?? ""
        uptimeSeconds = json["uptimeSeconds"]?.int64Value ?? 0
        path = storage?["path"]?.stringValue ?? ""
        usedBytes = storage?["usedBytes"]?.int64Value ?? 0
        limitBytes = storage?["limitBytes"]?.int64Value ?? 0
        freeBytes = storage?["freeBytes"]?.int64Value ?? 0
        floorBytes = storage?["floorBytes"]?.int64Value ?? 0
        userLimitBytes = storage?["userLimitBytes"]?.int64Value
        users = storage?["users"]?.arrayValue?.compactMap(UserRow.init) ?? []
        isAccepting = storage?["acceptance"]?.stringValue == "open"
        counts = [:]
        for state in DeliveryState.allCases {
            counts[state] = Int(clamping: json["counts"]?[state.rawValue]?.int64Value ?? 0)
        }
        endpoints = json["endpoints"]?.arrayValue?.map(EndpointRow.init) ?? []
        pendingNotices = Int(clamping: json["notices"]?["pending"]?.int64Value ?? 0)
        fault = json["fault"]?.stringValue
        spool = json["spool"].map(SpoolStatus.init)
        machine = MachineRow(json: json["machine"])
        forgottenEvents = Int(clamping: json["forgotten"]?.int64Value ?? 0)
        removedDead = Int(clamping: json["removedDead"]?.int64Value ?? 0)
        removedReceipts = Int(clamping: json["removedReceipts"]?.int64Value ?? 0)
        setAside = json["setAside"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The answer's `result`.
    package var json: JSONValue {
        var states = JSONObject()
        for state in DeliveryState.allCases { states[state.rawValue] = .integer(counts[state] ?? 0) }
        var storage = JSONObject()
        storage["path"] = .string(path)
        storage["usedBytes"] = .integer(usedBytes)
        storage["limitBytes"] = .integer(limitBytes)
        storage["freeBytes"] = .integer(freeBytes)
        storage["floorBytes"] = .integer(floorBytes)
        storage["userLimitBytes"] = userLimitBytes.map { .integer($0) }
        storage["users"] = .array(users.map(\.json))
        storage["acceptance"] = .string(isAccepting ? "open" : "queue-full")
        var answer = JSONObject()
        answer["version"] = .string(version)
        answer["uptimeSeconds"] = .integer(uptimeSeconds)
        answer["fault"] = fault.map(JSONValue.string)
        answer["storage"] = .object(storage)
        answer["counts"] = .object(states)
        answer["endpoints"] = .array(endpoints.map(\.json))
        answer["notices"] = ["pending": .integer(pendingNotices)]
        answer["spool"] = spool?.json
        answer["machine"] = machine.json
        if forgottenEvents > 0 { answer["forgotten"] = .integer(forgottenEvents) }
        if removedDead > 0 { answer["removedDead"] = .integer(removedDead) }
        if removedReceipts > 0 { answer["removedReceipts"] = .integer(removedReceipts) }
        if !setAside.isEmpty { answer["setAside"] = .array(setAside.map(JSONValue.string)) }
        return .object(answer)
    }
}
