import KleosSupport
import KleosTestSupport
import Testing

/// The daemon killed again and again at random moments, with clients and endpoints that fail as well.
@Suite("Kill torture")
struct KillTortureTests {
    private static let kills = TestStage.size("KILLS", usual: 5, long: 100)
    private static let seed: UInt64 = {
        let drawn = Int.random(in: 1...1_000_000_000)
        return UInt64(TestStage.size("KILL_SEED", usual: drawn, long: drawn))
    }()

    @Test("Nothing is lost, doubled, changed or left untold, however often the daemon is killed")
    func losesNothing() throws {
        let seed = Self.seed
        let world = try TortureWorld(TortureWorld.Setup(), seed: seed)
        try world.start()
        world.beginClients()
        var director = KillDirector(world: world, seed: seed)
        for _ in 0..<Self.kills { try director.killOnce() }
        world.finishClients()
        try world.drain()

        // A start forgets what routes had claimed, so that the last one gets whatever is left.
        world.scenario.kill()
        try world.start()
        var last = world.claimer("last")
        while try last.takeAll() > 0 {}

        var verdict = try TortureVerdict(world)
        try verdict.checkEvents()
        verdict.checkBoards()
        try verdict.checkLatest()
        try verdict.checkNotices()
        try verdict.checkDaemon()
        if !verdict.problems.isEmpty { Issue.record("\(try verdict.evidence(seed: seed))") }
        TestStage.report("kills", Self.figures(director.tally, verdict, seed: seed))
    }

    @Test("Where a second send would count twice nothing is sent twice, and all that is in doubt is shown as dead")
    func sendsOnce() throws {
        let seed = Self.seed
        var setup = TortureWorld.Setup()
        setup.services = ["home"]
        setup.game = ""
        setup.endpoint = "Resend=accumulates"
        setup.faults = [
            "--drop-answer=0.03", "--failure-share", "0.1", "--failure-statuses", "503", "--latency", "0-5",
        ]
        let world = try TortureWorld(setup, seed: seed)
        try world.start()
        world.beginClients()
        var director = KillDirector(world: world, seed: seed)
        for _ in 0..<Self.kills { try director.killOnce() }
        world.finishClients()
        try world.drain()

        var doubtful = try TortureVerdict(world, deadReasons: ["ambiguous"])
        try doubtful.checkEvents()
        doubtful.checkSends()
        let dead = Set(doubtful.listed.lazy.filter { $0.state == "dead" }.map(\.key))
        #expect(!dead.isEmpty, "no answer was lost, so that nothing was tested; seed \(seed)")

        // The operator decides, and the practice endpoint does not count twice after all.
        try world.kleos("retry", "--state", "dead")
        try world.drain()
        var settled = try TortureVerdict(world)
        try settled.checkEvents()
        settled.checkSends(retried: dead)
        settled.checkBoards()
        try settled.checkDaemon()
        for verdict in [doubtful, settled] where !verdict.problems.isEmpty {
            Issue.record("\(try verdict.evidence(seed: seed))")
        }
        TestStage.report(
            "kills at an endpoint that accumulates",
            "\(director.tally.kills) of the daemon, \(director.tally.endpointKills) of endpoints; "
                + "\(settled.state.acknowledged.count) events acknowledged, \(dead.count) in doubt and shown, "
                + "\(doubtful.problems.isEmpty && settled.problems.isEmpty ? "0 lost, 0 sent twice" : "PROBLEMS"), "
                + "seed \(seed)")
    }

    private static func figures(_ tally: KillDirector.Tally, _ verdict: TortureVerdict, seed: UInt64) -> String {
        let state = verdict.state
        return "\(tally.kills) of the daemon (\(tally.exact) at the event drawn), \(tally.endpointKills) of endpoints, "
            + "\(state.claimerKills) of routes, \(state.killedPlayers.count) of games, \(tally.stops) stops; "
            + "\(state.acknowledged.count) events acknowledged, \(state.resends) sent again, "
            + "\(state.echoes) asked about again, \(verdict.effectCount) effects, \(verdict.noticeCount) notices; "
            + "\(verdict.problems.isEmpty ? "0 lost" : "\(verdict.problems.count) problems"), seed \(seed)"
    }
}
