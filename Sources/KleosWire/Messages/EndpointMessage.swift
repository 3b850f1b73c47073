package import KleosJSON

/// The parameters of `pause`, `resume` and `flush`.
package struct EndpointParameters: Sendable, Equatable {
    /// The endpoint; nil means all, for `flush` only.
    package var endpoint: String?
    /// Why, in the operator's words; for `pause`.
    package var reason: String?

    /// Makes parameters.
    package init(endpoint: String?, reason: String? = nil) {
        self.endpoint = endpoint
        self.reason = reason
    }

    /// Reads parameters. Throws `RPCError`.
    package init(_ request: RPCRequest, needsEndpoint: Bool) throws(RPCError) {
        var reader = ParameterReader(request)
        endpoint = needsEndpoint ? try reader.requiredString("endpoint") : try reader.string("endpoint")
        reason = try reader.string("reason")
    }

    /// The parameters as they are sent.
    package var parameters: JSONObject {
        var object = JSONObject()
        object["endpoint"] = endpoint.map(JSONValue.string)
        object["reason"] = reason.map(JSONValue.string)
        return object
    }
}
