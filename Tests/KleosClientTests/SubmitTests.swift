import KleosClient
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire
import Testing

@Suite struct SubmitTests {
    typealias Outcome = Result<SubmitReceipt, KleosError>

    let daemon: HandDaemon
    let client: KleosClient
    let outcomes = Collector<Outcome>()

    init() throws {
        daemon = try HandDaemon()
        client = KleosClient(game: "minesweeper", player: "ada", socketPath: daemon.path)
    }

    private func submitScores(_ count: Int) {
        for value in 1...count {
            client.submitScore(Int64(value), leaderboard: "beginner") { [outcomes] in outcomes.add($0) }
        }
    }

    @Test func submitsAScoreAndGivesItsReceipt() throws {
        client.submitScore(
            8_080, leaderboard: "beginner", occurredAtMilliseconds: 1_795_996_800_123, metadata: #"{"moves": 12}"#
        ) { [outcomes] in outcomes.add($0) }
        let talk = try daemon.accept()
        let request = try talk.next()
        let (submission, ignored) = try Submission.parse(request)
        #expect(request.method == "submit")
        #expect(ignored.isEmpty)
        let id = try #require(submission.clientID)
        #expect(
            submission
                == Submission(
                    kind: .score, game: "minesweeper", player: "ada", leaderboard: "beginner", value: "8080",
                    occurredAtMilliseconds: 1_795_996_800_123, clientID: id, metadata: Array(#"{"moves": 12}"#.utf8)))
        let key = EventKey.numbered(7)
        try talk.answer(
            request, SubmitAnswer(key: key, isSuperseded: true, isDuplicate: true, ignored: ["mood"]).json)
        let receipt = try #require(outcomes.wait(for: 1).first).get()
        #expect(receipt.key == key.description)
        #expect(receipt.id == id)
        #expect(receipt.isSuperseded)
        #expect(receipt.isDuplicate)
        #expect(receipt.ignoredParameters == ["mood"])
    }

    @Test(arguments: [
        (AchievementProgress.unlocked, "progress", Int64(100)), (.percent(40), "progress", 40),
        (.steps(7), "steps", 7), (.increment(2), "increment", 2),
    ])
    func submitsAnAchievement(progress: AchievementProgress, member: String, number: Int64) throws {
        client.submitAchievement("ten-wins", progress: progress, player: "bea")
        let parameters = try daemon.accept().next().parameters
        #expect(parameters["kind"] == "achievement")
        #expect(parameters["achievement"] == "ten-wins")
        #expect(parameters["player"] == "bea")
        let given = ["progress", "steps", "increment"].filter { parameters[$0] != nil }
        #expect(given == [member])
        #expect(parameters[member] == .integer(number))
    }

    @Test func givesEachEventAnIDOfItsOwnAndItsTime() throws {
        let before = SystemClock().read().wallMilliseconds
        submitScores(20)
        let after = SystemClock().read().wallMilliseconds
        let submissions = try daemon.accept().next(20).map { try Submission.parse($0).submission }
        let ids = submissions.compactMap(\.clientID)
        #expect(Set(ids).count == 20)
        for id in ids {
            let key = try #require(EventKey(id))
            #expect(key.high >> 12 & 0xF == 7)
            #expect(key.low >> 62 == 2)
        }
        for submission in submissions {
            let time = try #require(submission.occurredAtMilliseconds)
            #expect((before...after).contains(time))
        }
    }

    @Test func sendsOnWithoutWaitingForAnswers() throws {
        submitScores(100)
        // None is answered before all have come.
        let requests = try daemon.accept().next(100)
        #expect(requests.compactMap { $0.parameters["value"]?.stringValue } == (1...100).map(String.init))
        #expect(outcomes.all.isEmpty)
    }

    @Test func keepsAtMostAWindowOfRequestsUnanswered() throws {
        submitScores(300)
        let talk = try daemon.accept()
        let first = try talk.next(256)
        try talk.receipt(first[0], number: 1)
        // The next one comes because of the answer; a client without a window would have sent all 300 in one piece.
        let next = try talk.next()
        #expect(next.parameters["value"] == "257")
        #expect(outcomes.wait(for: 1).count == 1)
        #expect(!client.waitUntilIdle(timeoutMilliseconds: 1))
        var rest = Array(first.dropFirst()) + [next]
        for number in 0..<299 {
            try talk.receipt(rest[number], number: UInt64(number))
            if rest.count < 299 { rest.append(try talk.next()) }
        }
        #expect(outcomes.wait(for: 300).count == 300)
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
    }

    @Test func takesAnswersInAnyOrder() throws {
        let keys = Collector<String>()
        for value in 1...5 {
            client.submitScore(Int64(value), leaderboard: "beginner") { result in
                keys.add("\(value) \((try? result.get())?.key ?? "refused")")
            }
        }
        let talk = try daemon.accept()
        let requests = try talk.next(5)
        for index in [3, 0, 4, 1, 2] { try talk.receipt(requests[index], number: UInt64(index + 1)) }
        let expected = [4, 1, 5, 2, 3].map { "\($0) \(EventKey.numbered(UInt64($0)))" }
        #expect(keys.wait(for: 5) == expected)
    }

    @Test func tellsWhyTheDaemonRefused() throws {
        submitScores(2)
        let talk = try daemon.accept()
        let requests = try talk.next(2)
        try talk.refuse(requests[0], RPCError(.unknownLeaderboard, "no such board", field: "leaderboard"))
        try talk.answer(requests[1], ["state": "accepted"])
        let results = outcomes.wait(for: 2)
        #expect(
            results.first
                == .failure(
                    .refused(reason: "unknown-leaderboard", message: "no such board", field: "leaderboard")))
        #expect(results.last == .failure(.malformed(#"{"state":"accepted"}"#)))
    }

    @Test(arguments: [ErrorReason.queueFull, .rateLimited])
    func handsOverAgainWhatTheDaemonHadNoRoomFor(reason: ErrorReason) throws {
        submitScores(1)
        let talk = try daemon.accept()
        let first = try talk.next()
        try talk.refuse(first, RPCError(reason, "not now"))
        let second = try talk.next()
        #expect(second.parameters == first.parameters)
        try talk.receipt(second, number: 1)
        let receipt = try #require(outcomes.wait(for: 1).first).get()
        #expect(receipt.key == EventKey.numbered(1).description)
        #expect(outcomes.all.count == 1)
    }

    @Test(arguments: [
        #"{"a":1"#, "12", #"{},"game":"chess""#, #"{"a":1,"a":2}"#, "", "{}}",
        String(repeating: "[", count: 40),
        #"{"a":"# + String(repeating: "[", count: 30) + String(repeating: "]", count: 30) + "}",
    ])
    func refusesMetadataThatWouldSpoilTheLine(metadata: String) throws {
        client.submitScore(1, leaderboard: "beginner", metadata: metadata) { [outcomes] in outcomes.add($0) }
        client.submitScore(2, leaderboard: "beginner") { [outcomes] in outcomes.add($0) }
        let talk = try daemon.accept()
        let request = try talk.next()
        #expect(request.parameters["value"] == "2")
        try talk.receipt(request, number: 2)
        let results = outcomes.wait(for: 2)
        guard case .failure(.refused("invalid-parameter", _, "metadata"))? = results.first else {
            Issue.record("not refused: \(results)")
            return
        }
    }

    @Test func keepsMetadataOverSeveralLinesOnOne() throws {
        client.submitScore(1, leaderboard: "beginner", metadata: "{\n  \"seed\": 1.50\n}\n")
        let submission = try Submission.parse(try daemon.accept().next()).submission
        #expect(submission.metadata == Array("{   \"seed\": 1.50 }".utf8))
    }

    @Test func refusesARequestThatNoDaemonWouldRead() throws {
        let metadata = #"{"a":"\#(String(repeating: "x", count: 70_000))"}"#
        client.submitScore(1, leaderboard: "beginner", metadata: metadata) { [outcomes] in outcomes.add($0) }
        guard case .failure(.refused("too-large", _, _))? = outcomes.wait(for: 1).first else {
            Issue.record("not refused: \(outcomes.all)")
            return
        }
    }

    @Test func reportsTheStandingOfThePlayer() throws {
        let answers = Collector<Result<[KleosStanding], KleosError>>()
        client.standing(achievement: "ten-wins") { answers.add($0) }
        let talk = try daemon.accept()
        let request = try talk.next()
        #expect(request.method == "standing")
        #expect(
            try StandingParameters(request)
                == StandingParameters(game: "minesweeper", player: "ada", achievement: "ten-wins"))
        let stream = StreamKey(
            endpoint: "home", game: "minesweeper", player: "ada", kind: .achievement, item: "ten-wins")
        try talk.answer(
            request,
            StandingAnswer(standings: [
                Standing(
                    stream: stream, confirmed: StandingMark(measure: .steps(4), atMilliseconds: 0, rank: 3),
                    pending: StandingMark(measure: .progress(100), atMilliseconds: 0))
            ]).json())
        let standings = try #require(answers.wait(for: 1).first).get()
        let standing = try #require(standings.first)
        #expect(standings.count == 1)
        #expect(standing.endpoint == "home")
        #expect(standing.achievement == "ten-wins")
        #expect(standing.leaderboard == nil)
        #expect(standing.confirmed?.steps == 4)
        #expect(standing.confirmed?.rank == 3)
        #expect(standing.pending?.progress == 100)
    }
}
