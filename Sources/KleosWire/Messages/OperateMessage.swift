package import KleosJSON
package import KleosModel

/// The parameters of `retry`, `hold`, `release` and `discard`: events by key, or deliveries by criteria.
package struct OperateParameters: Sendable, Equatable {
    /// The events meant; empty where criteria say.
    package var keys: [EventKey]
    /// The deliveries meant, and with keys only their `endpoint` counts.
    package var criteria: DeliveryCriteria

    /// Keys in one request.
    package static let maximumKeys = 500

    /// Makes parameters.
    package init(keys: [EventKey] = [], criteria: DeliveryCriteria = DeliveryCriteria()) {
        self.keys = keys
        self.criteria = criteria
    }

    /// Reads parameters; an empty selection is refused, because it would mean everything. Throws `RPCError`.
    package init(_ request: RPCRequest) throws(RPCError) {
        var reader = ParameterReader(request)
        let texts = try reader.strings("keys") ?? []
        guard texts.count <= Self.maximumKeys else {
            throw RPCError(.tooLarge, "at most \(Self.maximumKeys) keys in one request", field: "keys")
        }
        keys = []
        for text in texts {
            guard let key = EventKey(text) else {
                throw RPCError(.invalidParameter, "\(text) is no event's key", field: "keys")
            }
            keys.append(key)
        }
        criteria = try DeliveryCriteria(reader: &reader)
        let isAll = try reader.flag("all")
        guard !keys.isEmpty || criteria != DeliveryCriteria() || isAll else {
            throw RPCError(
                .invalidParameter, "name the events by keys, or give criteria, or \"all\": true", field: "keys")
        }
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = criteria.parameters
        if !keys.isEmpty {
            object["keys"] = .array(keys.map { .string($0.description) })
        } else if criteria == DeliveryCriteria() {
            object["all"] = true
        }
        return object
    }
}

/// The answer to `retry`, `hold`, `release` and `discard`.
package struct OperateAnswer: Sendable, Equatable {
    /// A delivery, or an event, that the verb did not apply to.
    package struct Unchanged: Sendable, Equatable {
        package var key: EventKey
        package var reason: String

        /// Makes one.
        package init(key: EventKey, reason: String) {
            self.key = key
            self.reason = reason
        }
    }

    /// Deliveries that changed, or will as soon as they settle.
    package var changed: Int
    package var unchanged: [Unchanged]

    /// Makes an answer.
    package init(changed: Int, unchanged: [Unchanged]) {
        self.changed = changed
        self.unchanged = unchanged
    }

    /// Reads an answer.
    package init(json: JSONValue) {
        changed = Int(clamping: json["changed"]?.int64Value ?? 0)
        unchanged =
            json["unchanged"]?.arrayValue?.compactMap { element in
                guard let key = element["key"]?.stringValue.flatMap(EventKey.init) else { return nil }
                return Unchanged(key: key, reason: element["reason"]?.stringValue ?? "")
            } ?? []
    }

    /// The answer's `result`.
    package var json: JSONValue {
        let rows = unchanged.map { ["key": .string($0.key.description), "reason": .string($0.reason)] as JSONValue }
        return ["changed": .integer(changed), "unchanged": .array(rows)]
    }
}
