import KleosClient
import KleosJSON
import KleosModel
import KleosWire
import Testing

@Suite struct NoticeTests {
    let daemon: HandDaemon
    let client: KleosClient
    let notices = Collector<KleosNotice>()

    init() throws {
        daemon = try HandDaemon()
        client = KleosClient(game: "minesweeper", player: "ada", socketPath: daemon.path)
        client.onNotice { [notices] in notices.add($0) }
    }

    private static func row(_ number: Int64) -> JSONValue {
        [
            "number": .integer(number), "key": .string(EventKey.numbered(1).description), "game": "minesweeper",
            "player": "ada", "kind": "score", "leaderboard": "beginner", "value": "8080", "rank": 3,
            "title": "Beginner: 8.080 s", "body": "Rank 3",
        ]
    }

    private static func isAbout(_ request: RPCRequest, _ method: Method) -> Bool { request.method == method.rawValue }

    /// Answers the requests with which a connection begins; `rows` are what there is to show.
    private func begin(_ talk: Talk, rows: [JSONValue]) throws {
        for request in try talk.next(2) {
            if Self.isAbout(request, .subscribe) {
                #expect(
                    try SubscribeParameters(request) == SubscribeParameters(topics: [.notices], game: "minesweeper"))
                try talk.answer(request, [:])
            } else {
                #expect(
                    try ClaimNoticesParameters(request) == ClaimNoticesParameters(route: "game", game: "minesweeper"))
                try talk.answer(request, ["notices": .array(rows)])
            }
        }
    }

    @Test func showsNoticesAndThenAcknowledgesThem() throws {
        let talk = try daemon.accept()
        try begin(talk, rows: [Self.row(4), Self.row(5)])
        let shown = notices.wait(for: 2)
        #expect(shown.map(\.number) == [4, 5])
        #expect(shown.first?.leaderboard == "beginner")
        #expect(shown.first?.achievement == nil)
        #expect(shown.first?.rank == 3)
        #expect(shown.first?.title == "Beginner: 8.080 s")
        let after = try talk.next(2)
        let acknowledged = try #require(after.first { Self.isAbout($0, .acknowledgeNotices) })
        #expect(acknowledged.parameters["numbers"] == [4, 5])
        #expect(acknowledged.parameters["route"] == "game")
        #expect(after.contains { Self.isAbout($0, .claimNotices) })
    }

    /// A client that waits for notices writes nothing, so that only the end that it reads tells it to connect again.
    @Test func connectsAgainWhenTheLastAnswerAndTheEndComeTogether() throws {
        for _ in 0..<5 {
            let talk = try daemon.accept()
            try begin(talk, rows: [])
            talk.hangUp()
        }
        let talk = try daemon.accept()
        try begin(talk, rows: [Self.row(4)])
        #expect(notices.wait(for: 1).map(\.number) == [4])
    }

    @Test func claimsWhenItIsTold() throws {
        let talk = try daemon.accept()
        try begin(talk, rows: [])
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
        try talk.write(RPCAnswer.notification(method: "notice", parameters: [:]))
        let claim = try talk.next()
        #expect(Self.isAbout(claim, .claimNotices))
        try talk.answer(claim, ["notices": [Self.row(6)]])
        #expect(notices.wait(for: 1).map(\.number) == [6])
    }

    @Test func subscribesAgainAfterAReconnectAndRepeatsTheAcknowledgement() throws {
        let first = try daemon.accept()
        try begin(first, rows: [Self.row(7)])
        #expect(notices.wait(for: 1).count == 1)
        _ = try first.next(2)
        first.hangUp()
        let methods = try daemon.accept().next(3).map(\.method)
        #expect(methods.sorted() == ["notices.acknowledge", "notices.claim", "subscribe"])
    }
}
