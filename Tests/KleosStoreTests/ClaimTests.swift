import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

/// Which of the deliveries that are due are taken.
@Suite struct ClaimTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    /// A score and an achievement of the same id in each of two games, for each of two players.
    private func acceptAll() throws -> [Event] {
        let subjects: [Subject] = [
            .score(leaderboard: "x", value: ScoreValue(units: 1)),
            .achievement(id: "x", change: .progress(100)),
        ]
        let events = ["one", "two"].flatMap { game in
            ["ada", "bob"].flatMap { player in
                subjects.map { maker.event($0, game: game, player: player) }
            }
        }
        for event in events { try store.accept(event, way(merge: .none)) }
        return events
    }

    @Test func aBoardThatIsSparedIsOneOfOneGameAndKind() throws {
        let events = try acceptAll()
        let spared = BoardKey(game: "two", kind: .score, item: "x")
        let now = store.clock.nowMilliseconds
        let claims = try store.run { (outbox) throws(StoreError) in
            try outbox.claim(endpoint: "home", limit: 100, nowMilliseconds: now, excludingBoards: [spared])
        }
        let expected = events.filter { $0.game != "two" || $0.subject.kind != .score }
        #expect(Set(claims.map(\.event.key)) == Set(expected.map(\.key)))
        #expect(claims.allSatisfy { $0.stream.board != spared })
        let due = try store.run { (outbox) throws(StoreError) in
            (
                try outbox.nextDueMilliseconds(endpoint: "home", excludingBoards: [spared]),
                try outbox.nextDueMilliseconds(endpoint: "home")
            )
        }
        #expect(due.0 == nil && due.1 == now)
    }

    @Test func aPlayerWhoIsSparedIsSparedInEveryGame() throws {
        let events = try acceptAll()
        let now = store.clock.nowMilliseconds
        let claims = try store.run { (outbox) throws(StoreError) in
            try outbox.claim(endpoint: "home", limit: 100, nowMilliseconds: now, excludingPlayers: ["ada"])
        }
        #expect(Set(claims.map(\.event.key)) == Set(events.filter { $0.player == "bob" }.map(\.key)))
        let due = try store.run { (outbox) throws(StoreError) in
            try outbox.nextDueMilliseconds(endpoint: "home", excludingPlayers: ["ada"])
        }
        #expect(due == nil)
    }
}
