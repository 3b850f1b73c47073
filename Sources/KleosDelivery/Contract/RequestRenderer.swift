import KleosJSON
package import KleosModel
import KleosSupport

/// Why an event cannot be expressed for an endpoint.
package struct RenderingError: Error, Sendable, Equatable {
    /// What is missing and what to do.
    package let message: String
}

/// Writes requests of the default contract (docs/endpoint-contract.md). Pure: the same input gives the same bytes.
package enum RequestRenderer {
    /// The body for `event`. Throws `RenderingError` where the game's catalog no longer knows the leaderboard.
    ///
    /// `occurredAtMilliseconds` replaces the event's own time, for an endpoint that takes no older ones.
    package static func body(
        for event: Event, in game: Game, occurredAtMilliseconds: Int64? = nil
    ) throws(RenderingError) -> [UInt8] {
        var object = JSONObject()
        object["key"] = .string(event.key.description)
        object["game"] = .string(event.game)
        object["player"] = .string(event.player)
        switch event.subject {
        case .score(let id, let value):
            guard let board = game.leaderboards[id] else {
                throw RenderingError(
                    message: "the game \(game.id) has no leaderboard \(id) any more; "
                        + "put its section back and retry, or discard the event")
            }
            object["leaderboard"] = .string(id)
            object["value"] = .string(value.description)
            object["order"] = .string(board.order.rawValue)
            object["keep"] = .string(board.keep.rawValue)
        case .achievement(let id, let change):
            object["achievement"] = .string(id)
            switch change {
            case .progress(let percent): object["progress"] = .integer(percent)
            case .steps(let count): object["steps"] = .integer(count)
            case .increment(let count): object["increment"] = .integer(count)
            }
            if case .progress = change {} else { object["of"] = game.achievements[id]?.steps.map { .integer($0) } }
        }
        let occurred = occurredAtMilliseconds ?? event.effectiveTimeMilliseconds
        object["occurredAt"] = .string(Timestamp.text(milliseconds: occurred))
        object["recordedAt"] = .string(Timestamp.text(milliseconds: event.recorded.wallMilliseconds))
        object["metadata"] = event.metadata.map(JSONValue.raw)
        return JSONValue.object(object).serializedBytes
    }

    /// The request that carries `body` to the endpoint that `routes` lead to.
    package static func request(_ body: [UInt8], for event: Event, over routes: EndpointRoutes) -> TransportRequest {
        TransportRequest(
            route: event.subject.kind == .score ? routes.scores : routes.achievements,
            headers: [("Idempotency-Key", "\"\(event.key)\"")], body: body)
    }
}

/// Where the requests of the default contract go at one endpoint; made once for each configuration.
package struct EndpointRoutes: Sendable {
    package let scores: TransportRoute
    package let achievements: TransportRoute

    /// Makes the routes to `endpoint`.
    package init(_ endpoint: Endpoint) {
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("Accept", "application/json"),
        ]
        if let token = endpoint.token { headers.append(("Authorization", "Bearer \(token.exposed)")) }
        func route(_ path: String) -> TransportRoute {
            TransportRoute(
                url: endpoint.url + path, headers: headers,
                connectTimeoutMilliseconds: endpoint.connectTimeoutMilliseconds,
                timeoutMilliseconds: endpoint.timeoutMilliseconds, maximumAnswerBytes: endpoint.maximumAnswerBytes,
                allowsInsecure: endpoint.allowsInsecure,
                mustGoOutOnce: endpoint.resend == .accumulates && !endpoint.isAtLeastOnce,
                certificateAuthorityFile: endpoint.certificateAuthorityFile)
        }
        scores = route("/v1/scores")
        achievements = route("/v1/achievements")
    }
}
