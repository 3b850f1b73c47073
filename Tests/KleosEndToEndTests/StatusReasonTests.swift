import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// From `kleos status` alone an operator reads why nothing is delivered.
@Suite("Status says why", .timeLimit(.minutes(30)))
struct StatusReasonTests {
    /// A daemon whose only endpoint has this file.
    private func daemon(_ endpoint: String, in network: OwnNetwork? = nil) throws -> DaemonHarness {
        let daemon = try DaemonHarness(files: [
            "endpoints.d/home.conf": "[Endpoint]\n\(endpoint)\n[Retry]\nBase=250ms\nCap=500ms\n",
            "games.d/minesweeper.conf": try Scenario.sampleGame,
        ])
        try daemon.start(through: network?.prefix ?? [])
        return daemon
    }

    private func submit(_ daemon: DaemonHarness, player: String = "ada") throws {
        let result = try daemon.kleos(["submit", "score", "minesweeper", "beginner", "9000", "--player", player])
        try #require(result.isSuccess, "\(result.errors)")
    }

    /// What `kleos status` prints once it holds `words`.
    private func status(_ daemon: DaemonHarness, until words: String) throws -> String {
        var text = ""
        let isSaid = try Patience.until {
            text = try daemon.kleos(["status"]).output
            return text.contains(words)
        }
        if isSaid { return text }
        Issue.record("status never said \(words): \(text)\n\(try daemon.log)")
        return text
    }

    /// What `kleos status --check` says, with its exit code.
    private func check(_ daemon: DaemonHarness) throws -> (code: Int32, line: String) {
        let result = try daemon.kleos(["status", "--check"])
        guard case .exited(let code) = result.ending else { throw SystemError("run kleos", code: ECHILD) }
        #expect(result.output.split(separator: "\n").count == 1)
        return (code, result.output)
    }

    @Test("A name that cannot be resolved", .enabled(if: OwnNetwork.isAvailable, "needs a network of its own"))
    func dns() throws {
        let network = try OwnNetwork()
        try network.addCard()
        try network.change("ip addr add 192.0.2.9/24 dev d0")
        let daemon = try daemon("URL=https://leaderboard.invalid", in: network)
        try submit(daemon)
        let text = try status(daemon, until: "the name leaderboard.invalid cannot be resolved (DNS)")
        #expect(text.contains("home (https://leaderboard.invalid) is failing"))
        #expect(text.contains("getent hosts leaderboard.invalid"))
        #expect(try check(daemon).code == 1)
    }

    @Test("No network at all", .enabled(if: OwnNetwork.isAvailable, "needs a network of its own"))
    func noNetwork() throws {
        let daemon = try daemon("URL=https://198.51.100.7", in: OwnNetwork())
        try submit(daemon)
        let text = try status(daemon, until: "this machine has no network, so that 198.51.100.7 cannot be reached")
        #expect(text.contains("Connect it; events are kept"))
        let (code, line) = try check(daemon)
        #expect(code == 1)
        #expect(line.contains("KLEOS WARNING: home (https://198.51.100.7) is failing"))
    }

    @Test("A refused connection")
    func refused() throws {
        let practice = try PracticeProcess()
        practice.kill()
        let daemon = try daemon("URL=\(practice.url)")
        try submit(daemon)
        let text = try status(daemon, until: "refuses connections: nothing listens there")
        #expect(text.contains("See that the service runs"))
        #expect(text.contains("last error: the connection was refused"))
        let (code, line) = try check(daemon)
        #expect(code == 1)
        #expect(line.contains("'home_ready'=1;;;0"))
        #expect(line.contains(" | oldest_undelivered="))
    }

    @Test("A certificate that has expired", .enabled(if: ExpiredServer.isAvailable, "needs the program openssl"))
    func expired() throws {
        let server = try ExpiredServer()
        let daemon = try daemon("URL=\(server.url)\nCertificateAuthorities=\(server.authorityFile)")
        try submit(daemon)
        let host = server.url.replacing("https://", with: "")
        let text = try status(daemon, until: "the certificate of \(host) has expired")
        #expect(text.contains("Tell whoever runs the service to renew it"))
        #expect(try check(daemon).code == 2)
    }

    @Test("Credentials that are refused")
    func credentials() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.setFaults("--unauthorized")
        try submit(scenario.daemon)
        let text = try status(scenario.daemon, until: "it refuses the credentials that kleos has for it")
        #expect(text.contains("kleos resume home lets it go on"))
        #expect(text.contains("TokenFile="))
        #expect(try check(scenario.daemon).code == 2)
    }

    @Test("An endpoint that throttles")
    func throttled() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.setFaults("--script", "429", "--retry-after", "36000")
        try submit(scenario.daemon)
        let text = try status(scenario.daemon, until: "is throttled: it asked to be left alone until 2")
        #expect(text.contains(", in 10 h.") || text.contains(", in 11 h."), "\(text)")
        let (code, line) = try check(scenario.daemon)
        #expect(code == 0)
        #expect(line.hasPrefix("KLEOS OK: 1 delivery on the way, new events are taken. home (http://"))
        #expect(line.contains(" is throttled"))
    }

    @Test("An endpoint that throttles one player, or one board", arguments: ["player", "board"])
    func partlyThrottled(scope: String) throws {
        let scenario = try Scenario(endpoint: "[Retry]\nBase=250ms\nCap=500ms\nThrottleScope=\(scope)\n")
        try scenario.daemon.start()
        try scenario.setFaults("--script", "429", "--retry-after", "36000")
        try submit(scenario.daemon)
        let name = scope == "player" ? "ada" : "beginner of minesweeper"
        let text = try status(
            scenario.daemon, until: "is throttled for 1 \(scope) (\(name)), as it asked: those deliveries wait")
        #expect(text.contains(", in 10 h. Others go on.") || text.contains(", in 11 h. "), "\(text)")
        let (code, line) = try check(scenario.daemon)
        #expect(code == 0)
        #expect(line.hasPrefix("KLEOS OK: 1 delivery on the way, new events are taken. home (http://"))
        #expect(line.contains(" is throttled"))
        try scenario.kleos("submit", "score", "minesweeper", "advanced", "9000", "--player", "bob")
        let isDelivered = try Patience.until {
            try check(scenario.daemon).line.contains("'home_delivered'=1;;;0")
        }
        #expect(isDelivered)
        #expect(try scenario.kleos("status").contains("is throttled for 1 \(scope)"))
    }

    @Test("An endpoint that rejects everything, at a wrong address")
    func rejecting() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.setFaults("--not-found")
        for player in ["a", "b", "c", "d", "e"] { try submit(scenario.daemon, player: player) }
        let text = try status(
            scenario.daemon, until: "it has refused everything (rejecting), and never confirmed anything")
        #expect(text.contains("Check URL= in its file"))
        #expect(try check(scenario.daemon).code == 2)
    }

    @Test("A pause, and everything held")
    func pausedAndHeld() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home", "--reason", "maintenance until noon")
        try submit(scenario.daemon)
        try submit(scenario.daemon, player: "bob")
        let paused = try scenario.kleos("status")
        #expect(paused.contains("is paused for"))
        #expect(paused.contains("maintenance until noon. Events are taken and kept meanwhile."))
        #expect(paused.contains("kleos resume home lets it go on"))
        try scenario.kleos("hold", "--all")
        try scenario.kleos("resume", "home")
        let held = try scenario.kleos("status")
        #expect(held.contains("Everything that waits for home, 2 deliveries, is held: an operator wants it so."))
        #expect(held.contains("kleos release --endpoint home lets everything go on."))
        #expect(try check(scenario.daemon).code == 1)
        try scenario.kleos("release", "--endpoint", "home")
        try scenario.drain()
        let (code, line) = try check(scenario.daemon)
        #expect(code == 0)
        #expect(line.contains("'home_delivered'=2;;;0"))
        #expect(!(try scenario.kleos("status").contains("held")))
    }

    @Test("A disk with less free than is to stay free")
    func diskFull() throws {
        let scenario = try Scenario()
        try scenario.daemon.write("kleosd.conf", "[Storage]\nKeepFree=16T\n")
        try scenario.daemon.start()
        let text = try scenario.kleos("status")
        #expect(text.contains("New events are refused (queue-full): the disk of \(scenario.daemon.folder.path)"))
        #expect(text.contains("less than the 16 TiB that KeepFree= keeps free. Deliveries go on."))
        #expect(text.contains("Free disk space"))
        let (code, line) = try check(scenario.daemon)
        #expect(code == 2)
        #expect(line.contains("free_before_floor=0B;67108864:;0:;0"))
    }

    @Test("A clock that is behind what the queue remembers")
    func clockWrong() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try submit(scenario.daemon)
        try scenario.drain()
        scenario.daemon.stop()
        try QueueFile.run("UPDATE events SET wall = wall + 315360000000", scenario.daemon)
        try scenario.daemon.start()
        let text = try scenario.kleos("status")
        #expect(text.contains("The clock of this machine is wrong: it says 20"))
        #expect(text.contains("so it is at least 36"), "ten years are about 3,650 days: \(text)")
        #expect(text.contains("timedatectl set-ntp true"))
        #expect(try check(scenario.daemon).code == 2)
    }

    @Test("A queue that a backup replaced is named, and one that was damaged asks for salvage")
    func setAside() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try submit(scenario.daemon)
        scenario.daemon.stop()
        try scenario.daemon.write("outbox.db", "this is no database, and long enough for nobody to think so")
        try scenario.daemon.start()
        let text = try scenario.kleos("status")
        #expect(text.contains("A damaged queue was set aside as outbox.db.damaged-20"))
        #expect(text.contains("kleos salvage outbox.db.damaged-20"))
        #expect(try check(scenario.daemon).code == 1)
    }

    @Test("No daemon is critical for monitoring, and a failure for people")
    func noDaemon() throws {
        let daemon = try DaemonHarness(files: [:])
        let (code, line) = try check(daemon)
        #expect(code == 2)
        #expect(line.hasPrefix("KLEOS CRITICAL: no kleos daemon answers"))
        let result = try daemon.kleos(["status", "--check", "--json"])
        let json = try JSONParser.parse(Array(result.output.utf8))
        #expect(json["check"]?.stringValue == "critical")
        #expect(json["findings"]?.arrayValue?.first?["cause"]?.stringValue == "no-daemon")
        #expect(try daemon.kleos(["status"]).ending == .exited(69))
    }

    @Test("Thresholds are the operator's")
    func thresholds() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        try submit(scenario.daemon)
        let old = try scenario.daemon.kleos(["status", "--check", "--warning-age", "0s", "--critical-age", "0s"])
        #expect(old.ending == .exited(2))
        #expect(old.output.contains("1 delivery waits for home, since "))
        let free = try scenario.daemon.kleos([
            "status", "--check", "--warning-free", "1024T", "--critical-free", "512T",
        ])
        #expect(free.ending == .exited(2))
        #expect(free.output.contains("New events are refused after another "))
        #expect(try scenario.daemon.kleos(["status", "--check", "--warning-age", "soon"]).ending == .exited(64))
        #expect(try scenario.daemon.kleos(["status", "--warning-age", "1h"]).ending == .exited(64))
    }
}
