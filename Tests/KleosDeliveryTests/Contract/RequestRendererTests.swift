import KleosDelivery
import KleosModel
import KleosTestSupport
import Testing

struct RequestRendererTests {
    private let maker = EventMaker(ManualClock())

    private func text(_ event: Event, occurredAt: Int64? = nil) throws -> String {
        String(
            decoding: try RequestRenderer.body(for: event, in: testGame, occurredAtMilliseconds: occurredAt),
            as: UTF8.self)
    }

    @Test func aScoreHasExactlyTheContractsMembers() throws {
        var event = maker.event(
            .score(leaderboard: "money", value: ScoreValue(units: -5, decimals: 2)), player: "zoë \"x\"",
            metadata: #"{ "n" : 1.000,"big":123456789012345678901234567890 }"#)
        event.occurredAtMilliseconds = maker.clock.nowMilliseconds - 1_500
        let expected =
            #"{"key":"\#(event.key)","game":"g","player":"zoë \"x\"","leaderboard":"money","value":"-0.05","#
            + #""order":"descending","keep":"best","occurredAt":"2026-11-29T23:59:58.500Z","#
            + #""recordedAt":"2026-11-30T00:00:00.000Z","#
            + #""metadata":{ "n" : 1.000,"big":123456789012345678901234567890 }}"#
        #expect(try text(event) == expected)
        #expect(try text(event) == text(event))
    }

    @Test(arguments: [
        (AchievementChange.progress(40), #""achievement":"walk","progress":40,"#),
        (.steps(7), #""achievement":"walk","steps":7,"of":100,"#),
        (.increment(3), #""achievement":"walk","increment":3,"#),
    ])
    func anAchievementTellsItsChange(_ change: AchievementChange, _ expected: String) throws {
        #expect(try text(maker.event(.achievement(id: "walk", change: change))).contains(expected))
    }

    @Test func aClampedTimeReplacesTheEventsOwn() throws {
        let event = maker.score(1)
        let body = try text(event, occurredAt: 0)
        #expect(body.contains(#""occurredAt":"1970-01-01T00:00:00.000Z","recordedAt":"2026-11-30"#))
    }

    @Test func anUnknownLeaderboardIsAnError() {
        #expect(throws: RenderingError.self) {
            try RequestRenderer.body(for: maker.score(1, board: "gone"), in: testGame)
        }
    }

    @Test func theRequestCarriesKeyAndTokenInItsHeadersOnly() throws {
        let event = maker.score(1)
        let endpoint = Endpoint(name: "home", url: "https://x.example/api", token: Secret("s3cret"))
        let body = try RequestRenderer.body(for: event, in: testGame)
        let request = RequestRenderer.request(body, for: event, over: EndpointRoutes(endpoint))
        #expect(request.route.url == "https://x.example/api/v1/scores")
        let headers = Dictionary(
            uniqueKeysWithValues: (request.headers + request.route.headers).map { ($0.name, $0.value) })
        #expect(headers["Idempotency-Key"] == "\"\(event.key)\"")
        #expect(headers["Authorization"] == "Bearer s3cret")
        #expect(!String(decoding: request.body, as: UTF8.self).contains("s3cret"))
        #expect(!request.route.mustGoOutOnce)
        let unlock = maker.event(.achievement(id: "a", change: .progress(100)))
        #expect(
            RequestRenderer.request([], for: unlock, over: EndpointRoutes(endpoint)).route.url
                == "https://x.example/api/v1/achievements")
    }

    @Test func whatWouldCountTwiceGoesOutOnce() {
        var endpoint = Endpoint(name: "home", url: "https://x.example", resend: .accumulates)
        #expect(RequestRenderer.request([], for: maker.score(1), over: EndpointRoutes(endpoint)).route.mustGoOutOnce)
        endpoint.isAtLeastOnce = true
        #expect(!RequestRenderer.request([], for: maker.score(1), over: EndpointRoutes(endpoint)).route.mustGoOutOnce)
    }
}
