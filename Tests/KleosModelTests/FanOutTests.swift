import KleosModel
import Testing

/// Which deliveries an event fans out to, and how they may replace each other.
@Suite struct FanOutTests {
    private static func fanOut(_ subject: Subject, in game: Game, resend: ResendEffect = .keyed) -> [FanOut] {
        let endpoints = ["home", "second"].map { Endpoint(name: $0, url: "http://127.0.0.1:1", resend: resend) }
        return SubmissionRules.fanOut(
            subject, in: game, endpoints: Dictionary(uniqueKeysWithValues: endpoints.map { ($0.name, $0) }))
    }

    private static func game(_ keep: KeepRule = .best, _ order: SortOrder = .descending, confirms: ConfirmRule = .first)
        -> Game
    {
        Game(
            id: "demo", endpoints: ["second", "gone", "home"], confirms: confirms,
            leaderboards: [Leaderboard(id: "runs", order: order, keep: keep)], achievements: [Achievement(id: "walker")]
        )
    }

    private static let score = Subject.score(leaderboard: "runs", value: ScoreValue(units: 1))

    @Test(arguments: KeepRule.allCases, ResendEffect.allCases)
    func scoresFollowTheirBoardAndService(keep: KeepRule, resend: ResendEffect) {
        for order in SortOrder.allCases {
            let fanOut = Self.fanOut(Self.score, in: Self.game(keep, order), resend: resend)
            let merge: MergeRule =
                switch keep {
                case .best: .best(order)
                case .latest: .latest
                case .every, .sum: .none
                }
            #expect(fanOut.map(\.merge) == [merge, merge])
            let isStrict = keep == .latest || resend == .lastWrite
            #expect(fanOut.map(\.isStrict) == [isStrict, isStrict])
            #expect(fanOut.map(\.priority) == [.score, .score])
        }
    }

    @Test(
        arguments: [
            (.progress(50), .best(.descending), .achievement), (.steps(3), .best(.descending), .achievement),
            (.increment(1), .none, .counter),
        ] as [(AchievementChange, MergeRule, DeliveryPriority)], ResendEffect.allCases)
    func achievements(row: (AchievementChange, MergeRule, DeliveryPriority), resend: ResendEffect) {
        let subject = Subject.achievement(id: "walker", change: row.0)
        for fanOut in Self.fanOut(subject, in: Self.game(.latest), resend: resend) {
            #expect(fanOut.merge == row.1)
            #expect(fanOut.priority == row.2)
            #expect(fanOut.isStrict == (resend == .lastWrite))
        }
    }

    @Test(
        arguments: [
            (.first, [true, false]), (.all, [true, true]), (.endpoint("home"), [false, true]),
            (.endpoint("gone"), [false, false]),
        ] as [(ConfirmRule, [Bool])])
    func goesToTheConfiguredEndpointsInTheGamesOrder(confirms: ConfirmRule, expected: [Bool]) {
        let fanOut = Self.fanOut(Self.score, in: Self.game(confirms: confirms))
        #expect(fanOut.map(\.endpoint) == ["second", "home"])
        #expect(fanOut.map(\.confirms) == expected)
    }

    @Test func achievementsGoBeforeScoresBeforeCounters() {
        #expect([DeliveryPriority.counter, .score, .achievement].sorted() == [.achievement, .score, .counter])
    }

    @Test func goesNowhereWithoutEndpoints() {
        #expect(SubmissionRules.fanOut(Self.score, in: Self.game(), endpoints: [:]).isEmpty)
    }
}
