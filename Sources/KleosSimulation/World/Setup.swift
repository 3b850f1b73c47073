import KleosDaemon
import KleosModel
import KleosSupport

/// The configuration of a simulated machine: as a seed makes it, and as a reload changes it for a while.
struct Setup {
    let whole: Engine.Setup
    /// The names of the endpoints, in order.
    let names = ["keyed", "best", "last", "adding"]

    /// Makes a configuration by chance.
    init(_ schedule: Schedule) {
        let endpoints = [
            Self.endpoint("keyed", .keyed, schedule), Self.endpoint("best", .keepsBest, schedule),
            Self.endpoint("last", .lastWrite, schedule), Self.endpoint("adding", .accumulates, schedule),
        ]
        let games = [
            Game(
                id: "free", endpoints: ["keyed"],
                leaderboards: [
                    Leaderboard(id: "high"), Leaderboard(id: "fast", order: .ascending),
                    Leaderboard(id: "now", keep: .latest), Leaderboard(id: "every", keep: .every),
                    Leaderboard(id: "sum", keep: .sum),
                ], achievements: [Achievement(id: "first"), Achievement(id: "hundred", steps: 100)]),
            Game(
                id: "arcade", endpoints: ["best", "keyed"],
                confirms: schedule.one(of: [.first, .all, .endpoint("keyed")]), player: "house",
                leaderboards: [Leaderboard(id: "high"), Leaderboard(id: "fast", order: .ascending)],
                achievements: [Achievement(id: "first")]),
            Game(
                id: "slate", endpoints: ["last"],
                leaderboards: [
                    Leaderboard(id: "high"), Leaderboard(id: "fast", order: .ascending),
                    Leaderboard(id: "now", keep: .latest),
                ]),
            Game(
                id: "tally", endpoints: ["adding"],
                leaderboards: [Leaderboard(id: "sum", keep: .sum), Leaderboard(id: "every", keep: .every)],
                achievements: [Achievement(id: "hundred", steps: 100)]),
        ]
        whole = Engine.Setup(
            games: Dictionary(uniqueKeysWithValues: games.map { ($0.id, $0) }),
            endpoints: Dictionary(uniqueKeysWithValues: endpoints.map { ($0.name, $0) }))
    }

    private static func endpoint(_ name: String, _ resend: ResendEffect, _ schedule: Schedule) -> Endpoint {
        Endpoint(
            name: name, url: "https://\(name).example", resend: resend,
            isAtLeastOnce: resend == .accumulates && schedule.chance(oneIn: 4),
            retry: schedule.one(of: [RetryPolicy(), RetryPolicy(baseMilliseconds: 500, capMilliseconds: 60_000)]),
            maximumAgeMilliseconds: schedule.one(of: [nil, 30 * 86_400_000, 2 * 86_400_000, 6 * 3_600_000]),
            whenOlder: schedule.one(of: OverageRule.allCases), maximumServerErrors: schedule.one(of: [3, 20]),
            throttleScope: schedule.one(of: ThrottleScope.allCases),
            maximumInFlight: schedule.number(1...8),
            requestsPerMinute: schedule.one(of: [nil, nil, 10, 120]), timeoutMilliseconds: 30_000)
    }

    /// A configuration with something missing or changed.
    func changed(_ schedule: Schedule) -> Engine.Setup {
        var setup = whole
        let name = schedule.one(of: names)
        switch schedule.number(0...4) {
        case 0: setup.games[schedule.one(of: setup.games.keys.sorted())] = nil
        case 1: setup.endpoints[name] = nil
        case 2: setup.endpoints[name]?.url = "https://\(name).example/v2"
        case 3: setup.endpoints[name]?.maximumInFlight = schedule.number(1...8)
        default: setup.endpoints[name]?.requestsPerMinute = schedule.one(of: [nil, 6, 60])
        }
        return setup
    }
}
