import KleosJSON
import KleosModel
import KleosSupport
import KleosWire
import Testing

/// What one side writes, the other reads as the same; what a newer daemon adds is passed over.
@Suite struct MessageTests {
    static let key = EventKey(high: 0x0193_764F_2F4B_7C5A, low: 0x8A6E_0123_4567_89AB)
    static let otherKey = EventKey(high: 0x0193_764F_2F4B_7C5B, low: 0x8A6E_0123_4567_89AB)

    @Test(arguments: [
        Submission(kind: .score, game: "g"),
        Submission(
            kind: .score, game: "g", player: "é\n\"", leaderboard: "b", value: "-12.50",
            occurredAtMilliseconds: 1_796_014_175_123, clientID: "one", metadata: Array(#"{ "a": 1.50 }"#.utf8)),
        Submission(kind: .achievement, game: "g", achievement: "a", progress: 50),
        Submission(kind: .achievement, game: "g", achievement: "a", steps: .max),
        Submission(kind: .achievement, game: "g", achievement: "a", increment: 3),
    ])
    func submissions(submission: Submission) throws {
        let (read, ignored) = try Submission.parse(try sent(submission.parameters))
        #expect(read == submission)
        #expect(ignored.isEmpty)
    }

    @Test func metadataNeverBreaksTheLine() throws {
        let submission = Submission(kind: .score, game: "g", metadata: Array("{\n  \"a\": 1\n}\n".utf8))
        let line = RPCRequest(id: 1, method: "submit", parameters: submission.parameters).line
        #expect(line.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(
            try Submission.parse(try sent(submission.parameters)).submission.metadata == Array("{   \"a\": 1 }".utf8))
    }

    @Test func submitAnswers() throws {
        for answer in [
            SubmitAnswer(key: Self.key, isSuperseded: false, isDuplicate: false),
            SubmitAnswer(key: Self.key, isSuperseded: true, isDuplicate: true, ignored: ["mood"]),
        ] {
            #expect(SubmitAnswer(json: try read(answer.json)) == answer)
        }
        #expect(SubmitAnswer(json: ["state": "accepted"]) == nil)
    }

    @Test func parametersOfTheRest() throws {
        let criteria = DeliveryCriteria(
            states: [.dead, .held], game: "g", player: "p", endpoint: "e", kind: .achievement, text: "t")
        for list in [ListParameters(), ListParameters(criteria: criteria, limit: 500, cursor: "c")] {
            #expect(try ListParameters(try sent(list.parameters)) == list)
        }
        let operate = [
            OperateParameters(), OperateParameters(criteria: criteria),
            OperateParameters(keys: [Self.key, Self.otherKey], criteria: DeliveryCriteria(endpoint: "e")),
        ]
        for parameters in operate { #expect(try OperateParameters(try sent(parameters.parameters)) == parameters) }
        for show in [ShowParameters.key(Self.key), .clientID("one", game: "g")] {
            #expect(try ShowParameters(try sent(show.parameters)) == show)
        }
        for standing in [StandingParameters(game: "g"), StandingParameters(game: "g", player: "p", leaderboard: "b")] {
            #expect(try StandingParameters(try sent(standing.parameters)) == standing)
        }
        for topics in [[], Topic.allCases] {
            let subscribe = SubscribeParameters(topics: topics, game: "g", player: "p")
            #expect(try SubscribeParameters(try sent(subscribe.parameters)) == subscribe)
        }
        for state in PresenceState.allCases {
            let presence = PresenceParameters(game: "g", player: nil, state: state)
            #expect(try PresenceParameters(try sent(presence.parameters)) == presence)
        }
        let pause = EndpointParameters(endpoint: "e", reason: "r")
        #expect(try EndpointParameters(try sent(pause.parameters), needsEndpoint: true) == pause)
        let flush = EndpointParameters(endpoint: nil)
        #expect(try EndpointParameters(try sent(flush.parameters), needsEndpoint: false) == flush)
        let notices = NoticesParameters(
            game: "g", player: "p", after: 7, isPendingOnly: true, limit: 9, locale: "de_DE.UTF-8")
        #expect(try NoticesParameters(try sent(notices.parameters)) == notices)
        let claim = ClaimNoticesParameters(route: "desktop", game: "g", limit: 100, locale: "de")
        #expect(try ClaimNoticesParameters(try sent(claim.parameters)) == claim)
        let acknowledge = AcknowledgeNoticesParameters(route: "desktop", numbers: [1, .max])
        #expect(try AcknowledgeNoticesParameters(try sent(acknowledge.parameters)) == acknowledge)
    }

    @Test func helloAndOperateAnswers() throws {
        let hello = HelloAnswer(socket: "control", uid: .max)
        #expect(HelloAnswer(json: try read(hello.json)) == hello)
        let operate = OperateAnswer(changed: 3, unchanged: [.init(key: Self.key, reason: "delivered")])
        #expect(OperateAnswer(json: try read(operate.json)) == operate)
    }

    @Test(arguments: DeliveryState.allCases)
    func rows(state: DeliveryState) throws {
        let subjects: [Subject] = [
            .score(leaderboard: "b", value: ScoreValue(units: -1_250, decimals: 2)),
            .achievement(id: "a", change: .progress(50)), .achievement(id: "a", change: .steps(3)),
            .achievement(id: "a", change: .increment(4)),
        ]
        let rows = subjects.flatMap {
            [Self.row($0, state: state, isFull: true), Self.row($0, state: state, isFull: false)]
        }
        let answer = ListAnswer(rows: rows, cursor: "c")
        #expect(ListAnswer(json: try read(answer.json)) == answer)
    }

    @Test func rowsOfAStateThatIsNotKnownAreLeftOut() throws {
        var row = Self.row(.achievement(id: "a", change: .steps(3)), state: .dead, isFull: true).json.objectValue
        row?["state"] = "teleported"
        let answer: JSONValue = ["deliveries": [.object(try #require(row))], "cursor": "c"]
        #expect(ListAnswer(json: answer) == ListAnswer(rows: [], cursor: "c"))
    }

    @Test(arguments: Outcome.allCases)
    func details(outcome: Outcome) throws {
        let attempts = [
            Attempt(number: 1, startedMilliseconds: 1_796_014_175_001, durationMilliseconds: 20, outcome: outcome),
            Attempt(
                number: 2, startedMilliseconds: 1_796_014_175_002, durationMilliseconds: 0, outcome: outcome,
                status: 503, error: "e", answer: "<html>\n"),
        ]
        let row = Self.row(.score(leaderboard: "b", value: ScoreValue(units: 1)), state: .delivered, isFull: true)
        for confirmation in [nil, Confirmation(rank: 1, best: "9.5", changed: false, unlocked: true), Confirmation()] {
            let detail = DeliveryDetail(row: row, attempts: attempts, confirmation: confirmation, message: "m")
            #expect(DeliveryDetail(json: try read(detail.json)) == detail)
        }
    }

    @Test func standings() throws {
        let board = StreamKey(endpoint: "e", game: "g", player: "p", kind: .score, item: "b")
        let achievement = StreamKey(endpoint: "e", game: "g", player: "p", kind: .achievement, item: "a")
        let value = StandingMeasure.value(ScoreValue(units: -5, decimals: 2))
        let answer = StandingAnswer(standings: [
            Standing(stream: board, confirmed: StandingMark(measure: value, atMilliseconds: 0, rank: 3)),
            Standing(stream: board, pending: StandingMark(measure: value, atMilliseconds: 5)),
            Standing(
                stream: achievement, confirmed: StandingMark(measure: .progress(0), atMilliseconds: 1),
                pending: StandingMark(measure: .steps(7), atMilliseconds: 2)),
            Standing(stream: achievement),
        ])
        #expect(StandingAnswer(json: try read(answer.json())) == answer)
    }

    @Test func status() throws {
        var row = EndpointRow(
            name: "home", url: "http://127.0.0.1:1", condition: "failing", reason: "r", sinceMilliseconds: 1_000,
            lastSuccessMilliseconds: 2_000, lastError: "e", nextProbeMilliseconds: 3_000, inFlight: 1, undelivered: 5,
            dead: 2, oldestUndeliveredMilliseconds: 4_000)
        row.throttleCount = 12
        row.throttles = [
            PartialThrottle(scope: .player, name: "p", untilMilliseconds: 5_000),
            PartialThrottle(scope: .board, name: "b", game: "g", untilMilliseconds: 5_500),
            PartialThrottle(scope: .board, name: nil, untilMilliseconds: 6_000),
        ]
        let bare = EndpointRow(
            name: "bare", url: "", condition: "up", reason: nil, sinceMilliseconds: nil, lastSuccessMilliseconds: nil,
            lastError: nil, nextProbeMilliseconds: nil, inFlight: 0, undelivered: 0, dead: 0,
            oldestUndeliveredMilliseconds: nil)
        var counts: [DeliveryState: Int] = [:]
        for (index, state) in DeliveryState.allCases.enumerated() { counts[state] = index }
        for isAccepting in [true, false] {
            let answer = StatusAnswer(
                uptimeSeconds: 60, path: "/var/lib/kleos", usedBytes: 1, limitBytes: 2, freeBytes: 3, floorBytes: 4,
                isAccepting: isAccepting, counts: counts, endpoints: [row, bare], pendingNotices: 9)
            #expect(StatusAnswer(json: try read(answer.json)) == answer)
        }
    }

    @Test func notices() throws {
        let text = NoticeText(title: "t", body: "a\nb", gameTitle: "G", itemTitle: "I", openLabel: "Play")
        let facts = [
            NoticeFacts(kind: .score, item: "b", value: ScoreValue(units: 1_250, decimals: 2), rank: 3, changed: true),
            NoticeFacts(kind: .achievement, item: "a"),
        ]
        let rows = facts.flatMap { facts in
            [nil, Int64(5_000)].map { shown in
                NoticeRow(
                    Notice(
                        number: 7, key: Self.key, game: "g", player: "p", uid: 1_000, facts: facts,
                        createdMilliseconds: 4_000, shownMilliseconds: shown, route: shown.map { _ in "desktop" }),
                    text: text)
            }
        }
        let answer = NoticesAnswer(notices: rows)
        #expect(NoticesAnswer(json: try read(answer.json)) == answer)
    }

    @Test(arguments: UInt64(0)..<200)
    func randomSubmissions(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? { Bool.random(using: &random) ? value() : nil }
        func text() -> String {
            String(
                String.UnicodeScalarView(
                    (0..<9).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1..<0x3_0000, using: &random)) }))
        }
        let kind: SubjectKind = Bool.random(using: &random) ? .score : .achievement
        let times = -62_167_219_200_000...253_402_300_799_999 as ClosedRange<Int64>
        let submission = Submission(
            kind: kind, game: text(), player: maybe(text()), leaderboard: maybe(text()), value: maybe(text()),
            achievement: maybe(text()), progress: maybe(Int64(bitPattern: random.next())),
            steps: maybe(Int64(bitPattern: random.next())), increment: maybe(Int64(bitPattern: random.next())),
            occurredAtMilliseconds: maybe(Int64.random(in: times, using: &random)), clientID: maybe(text()),
            metadata: maybe(JSONValue.object(JSONObject([text(): .string(text())])).serializedBytes))
        #expect(try Submission.parse(try sent(submission.parameters)).submission == submission)
    }

    // MARK: Helpers

    private static func row(_ subject: Subject, state: DeliveryState, isFull: Bool) -> DeliveryRow {
        DeliveryRow(
            key: key, clientID: isFull ? "one" : nil, endpoint: "e", state: state, reason: isFull ? "rejected" : nil,
            game: "g", player: "p", subject: SubjectFields(subject), recordedAtMilliseconds: 1_796_014_175_123,
            attempts: isFull ? 3 : 0, nextAttemptAtMilliseconds: isFull ? 1_796_014_176_000 : nil,
            settledAtMilliseconds: isFull ? 1_796_014_177_000 : nil, supersededBy: isFull ? otherKey : nil)
    }

    /// The request as the daemon reads it from its line.
    private func sent(_ parameters: JSONObject) throws -> RPCRequest {
        let line = RPCRequest(id: 1, method: "m", parameters: parameters).line
        guard case .single(let parsed) = try RPCRequest.parse(Array(line.dropLast())) else {
            throw RPCError(.internalError, "a batch")
        }
        return try parsed.request.get()
    }

    /// The result as a client reads it, from a daemon that says more with every object.
    private func read(_ result: JSONValue) throws -> JSONValue {
        let line = RPCAnswer.result(Self.extended(result), id: [UInt8(ascii: "1")])
        guard case .answer(id: 1, .success(let value)) = try RPCIncoming.parse(line) else {
            throw RPCError(.internalError, "no answer")
        }
        return value
    }

    private static func extended(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(extended))
        case .object(let object):
            var result = JSONObject()
            result["news"] = [1, ["of": "later"]]
            for member in object.members { result[member.name] = extended(member.value) }
            return .object(result)
        default: return value
        }
    }
}
