import KleosClient
import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

@Suite(.timeLimit(.minutes(30))) struct ReconnectTests {
    typealias Outcome = Result<SubmitReceipt, KleosError>

    let daemon: HandDaemon
    let outcomes = Collector<Outcome>()

    init() throws {
        daemon = try HandDaemon()
    }

    private func makeClient(requestTimeoutMilliseconds: Int = 60_000) -> KleosClient {
        KleosClient(
            game: "minesweeper", player: "ada", socketPath: daemon.path,
            requestTimeoutMilliseconds: requestTimeoutMilliseconds)
    }

    private func submit(_ value: Int64, with client: KleosClient) {
        client.submitScore(value, leaderboard: "beginner") { [outcomes] in outcomes.add($0) }
    }

    @Test func sendsAgainWhatWasNotAnsweredUnderTheSameID() throws {
        let client = makeClient()
        for value in 1...3 { submit(Int64(value), with: client) }
        let first = try daemon.accept()
        let requests = try first.next(3)
        try first.receipt(requests[1], number: 2)
        #expect(outcomes.wait(for: 1).count == 1)
        first.hangUp()

        let second = try daemon.accept()
        let again = try second.next(2)
        #expect(again.map(\.parameters) == [requests[0].parameters, requests[2].parameters])
        for request in again { try second.receipt(request, number: 1) }
        #expect(outcomes.wait(for: 3).count == 3)
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
        #expect(outcomes.all.count == 3)
    }

    @Test func waitsForADaemonThatStartsLater() throws {
        let folder = try TemporaryFolder(prefix: "client")
        let client = KleosClient(game: "minesweeper", player: "ada", socketPath: folder.path("kleos.sock"))
        submit(1, with: client)
        #expect(!client.waitUntilIdle(timeoutMilliseconds: 1))
        let late = try ScriptedDaemon(folder: folder.path) { _, _ in
            .success(SubmitAnswer(key: .numbered(1), isSuperseded: false, isDuplicate: false).json)
        }
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
        #expect(outcomes.all.count == 1)
        #expect(late.requests.map(\.method) == [.submit])
        late.stop()
    }

    @Test func givesUpADaemonThatNeverAnswers() throws {
        let client = makeClient(requestTimeoutMilliseconds: 20)
        submit(1, with: client)
        let silent = try daemon.accept()
        let request = try silent.next()
        try silent.waitForEnd()
        let second = try daemon.accept()
        #expect(try second.next().parameters == request.parameters)
        client.close()
        guard case .failure(.unanswered(let why))? = outcomes.wait(for: 1).first else {
            Issue.record("\(outcomes.all)")
            return
        }
        #expect(why.hasPrefix("the client was closed, and the event could not be spooled: no kleos daemon has made"))
    }

    @Test(arguments: [
        "no JSON", #"{"jsonrpc":"2.0","error":{"code":-32013,"message":"full"},"id":null}"#, #"{"jsonrpc":"2.0"}"#,
    ])
    func beginsAnewAfterALineThatAnswersNothing(line: String) throws {
        let client = makeClient()
        submit(1, with: client)
        let first = try daemon.accept()
        let request = try first.next()
        try first.write(Array(line.utf8))
        try first.waitForEnd()
        let second = try daemon.accept()
        let again = try second.next()
        #expect(again.parameters == request.parameters)
        try second.receipt(again, number: 1)
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
    }

    @Test func tellsEachConnectionThePresenceOnce() throws {
        let client = makeClient()
        client.setForeground(true)
        let expected = PresenceParameters(game: "minesweeper", player: "ada", state: .foreground)
        let first = try daemon.accept()
        #expect(try PresenceParameters(try first.next()) == expected)
        first.hangUp()
        submit(1, with: client)
        let second = try daemon.accept()
        let requests = try second.next(2)
        #expect(Set(requests.map(\.method)) == ["presence", "submit"])
        let presence = try #require(requests.first { $0.method == "presence" })
        #expect(try PresenceParameters(presence) == expected)
        client.close()
        #expect(throws: SystemError.self) { try second.next() }
    }

    @Test func answersWhatIsLeftWhenItIsClosed() throws {
        let client = makeClient()
        submit(1, with: client)
        let talk = try daemon.accept()
        _ = try talk.next()
        client.close()
        submit(2, with: client)
        let results = outcomes.wait(for: 2)
        #expect(results.count == 2)
        for result in results {
            guard case .failure(.unanswered) = result else {
                Issue.record("answered after the end: \(result)")
                continue
            }
        }
        try talk.waitForEnd()
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
    }

    @Test func endsItsConnectionWhenItIsReleased() throws {
        var client: KleosClient? = makeClient()
        client?.setForeground(true)
        let talk = try daemon.accept()
        _ = try talk.next()
        client = nil
        try talk.waitForEnd()
    }
}
