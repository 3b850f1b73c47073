package import KleosJSON

/// The answer to `backup`.
package struct BackupAnswer: Sendable, Equatable {
    /// Where the daemon put it.
    package var path: String
    package var bytes: Int64
    /// Paths of older ones that were removed for it.
    package var removed: [String]

    /// Makes an answer.
    package init(path: String, bytes: Int64, removed: [String]) {
        self.path = path
        self.bytes = bytes
        self.removed = removed
    }

    /// Reads an answer; what is missing is empty.
    package init(json: JSONValue) {
        path = json["path"]?.stringValue ?? ""
        bytes = json["bytes"]?.int64Value ?? 0
        removed = json["removed"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The answer's `result`.
    package var json: JSONValue {
        ["path": .string(path), "bytes": .integer(bytes), "removed": .array(removed.map(JSONValue.string))]
    }
}
