import Glibc
import KleosJSON
import KleosModel
import KleosPractice
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// The daemon is killed again and again while it takes in a full spool; nothing is lost or counted twice.
@Suite("Spool: kills")
struct SpoolKillTests {
    private static let events = TestStage.size("SPOOL_EVENTS", usual: 600, long: 6_000)
    private static let kills = TestStage.size("SPOOL_KILLS", usual: 5, long: 60)

    /// A board that takes every score, so that each event is an effect of its own.
    private static let game = """
        [Game]
        Id=counting
        Endpoints=home
        Player=ada

        [Leaderboard all]
        Order=descending
        Keep=every
        """

    private func put(_ id: String, value: Int, in spool: String) throws {
        let text =
            "{\"kind\":\"score\",\"game\":\"counting\",\"leaderboard\":\"all\",\"value\":\(value),\"id\":\"\(id)\"}\n"
        let file = try FileDescriptor.open("\(spool)/.\(id)", O_WRONLY | O_CREAT, mode: 0o640)
        try file.writeAll(Array(text.utf8))
        try #require(rename("\(spool)/.\(id)", "\(spool)/\(id).json") == 0)
    }

    @Test("Every spooled event is recorded and takes effect once, whenever the daemon is killed")
    func survives() throws {
        let practice = try PracticeProcess()
        let daemon = try DaemonHarness(files: [
            "games.d/counting.conf": Self.game,
            "endpoints.d/home.conf": "[Endpoint]\nURL=\(practice.url)\n[Retry]\nBase=250ms\nCap=500ms\n",
        ])
        try daemon.start()
        let spool = daemon.folder.path("spool")
        var random = SeededGenerator(seed: 11)
        var written = 0
        for round in 0...Self.kills {
            let target = round == Self.kills ? Self.events : Self.events * (round + 1) / (Self.kills + 1)
            while written < target {
                try put("event-\(written)", value: written, in: spool)
                written += 1
            }
            guard round < Self.kills else { break }
            // Some files of this round are through by now, and some are not: killed once a random number has gone.
            let share = Int.random(in: 0...(Self.events / (Self.kills + 1)), using: &random)
            try waitUntilGone(written - share, of: written, in: spool)
            daemon.kill()
            try daemon.start()
        }
        try waitUntilGone(written, of: written, in: spool)
        #expect(try daemon.kleos(["watch", "--until-empty", "--timeout", "600", "--quiet"]).isSuccess)
        let result = try daemon.kleos(["status", "--json"])
        let status = StatusAnswer(json: try JSONParser.parse(Array(result.output.utf8)))
        #expect(status.counts[.delivered] == Self.events)
        #expect(status.counts.values.reduce(0, +) == Self.events)
        #expect(status.spool?.rejected == 0)
        let counts = try #require(try PracticeClient(url: practice.url).get("/counts").json)
        #expect(counts["effects"]?.int64Value == Int64(Self.events))
        #expect(counts["mostEffectsOfOneKey"]?.int64Value == 1)
        TestStage.report("spool kills", "\(Self.kills) kills, \(Self.events) events spooled, 0 lost, 0 twice")
    }

    /// Waits until at least `gone` of `written` files have left the spool and the daemon's own folder in it.
    private func waitUntilGone(_ gone: Int, of written: Int, in spool: String) throws {
        var left = 0
        let areGone = try Patience.until {
            left =
                try Folder.names(in: spool).count { $0.hasSuffix(".json") }
                + Folder.names(in: "\(spool)/taking").count
            return written - left >= gone
        }
        try #require(areGone, "\(left) files stay")
    }
}
