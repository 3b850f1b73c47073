package import KleosJSON

/// The answer to `hello`.
package struct HelloAnswer: Sendable, Equatable {
    package var server: String
    package var version: String
    package var protocolNumber: Int64
    package var features: [String]
    /// `submit` or `control`.
    package var socket: String
    /// The user that the daemon takes the client for.
    package var uid: UInt32

    /// Makes an answer.
    package init(socket: String, uid: UInt32) {
        server = "kleosd"
        version = ProtocolVersion.program
        protocolNumber = ProtocolVersion.number
        features = ProtocolVersion.features
        self.socket = socket
        self.uid = uid
    }

    /// Reads an answer; what is missing is empty.
    package init(json: JSONValue) {
        server = json["server"]?.stringValue ?? ""
        version = json["version"]?.stringValue ?? ""
        protocolNumber = json["protocol"]?.int64Value ?? 0
        features = json["features"]?.arrayValue?.compactMap(\.stringValue) ?? []
        socket = json["socket"]?.stringValue ?? ""
        uid = UInt32(clamping: json["user"]?.int64Value ?? 0)
    }

    /// The answer's `result`.
    package var json: JSONValue {
        [
            "server": .string(server), "version": .string(version), "protocol": .integer(protocolNumber),
            "features": .array(features.map(JSONValue.string)), "socket": .string(socket), "user": .integer(uid),
        ]
    }
}
