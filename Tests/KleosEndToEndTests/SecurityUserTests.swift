import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What one ordinary user can do to another, with the real programs and the kernel's word on who asks.
@Suite(
    "Security: users",
    .enabled(if: OrdinaryUser.isRoot, OrdinaryUser.whySkipped))
struct SecurityUserTests {
    private let scenario: SecurityScenario
    private let ada = OrdinaryUser.ada
    private let bob = OrdinaryUser.bob
    /// Members of this group operate the queue; any group that every machine has.
    private static let operators = "games"

    init() throws {
        scenario = try SecurityScenario(
            url: "http://127.0.0.1:9", game: "AllowUsers=\(OrdinaryUser.ada.uid) \(OrdinaryUser.bob.uid)\n",
            settings: "ControlGroup=\(Self.operators)\n")
        try scenario.openFolder()
        try scenario.daemon.start()
    }

    private func kleos(_ user: OrdinaryUser, _ arguments: String...) throws -> ChildProcess.Result {
        try user.kleos(arguments, daemon: scenario.daemon)
    }

    /// Submits as `user`; returns the answer.
    private func submit(_ user: OrdinaryUser, _ value: Int, id: String, player: String = "ada") throws -> JSONValue {
        let result = try kleos(
            user, "submit", "score", "minesweeper", "beginner", String(value), "--player", player, "--id", id, "--json")
        try #require(result.isSuccess, "\(result.errors)")
        return try JSONParser.parse(Array(result.output.utf8))
    }

    private func keys(_ user: OrdinaryUser, _ arguments: String...) throws -> [String] {
        let result = try user.kleos(["list", "--json"] + arguments, daemon: scenario.daemon)
        try #require(result.isSuccess, "\(result.errors)")
        return try result.output.split(separator: "\n").compactMap {
            try JSONParser.parse(Array($0.utf8))["key"]?.stringValue
        }
    }

    @Test("S-17: who asks is the kernel's word, and it is what the event records")
    func identity() throws {
        let key = try #require(try submit(ada, 500, id: "one")["key"]?.stringValue)
        let result = try JSONParser.parse(
            Array(try scenario.kleos("show", key, "--json", "--socket", scenario.daemon.controlPath).utf8))
        #expect(result["event"]?["submitter"]?["uid"] == .integer(Int64(ada.uid)), "\(result.serialized)")
    }

    @Test("S-10: nobody lists or shows another user's events, by key, by id or by asking for the player")
    func reading() throws {
        let own = try #require(try submit(ada, 500, id: "one")["key"]?.stringValue)
        let other = try #require(try submit(bob, 400, id: "two", player: "bob")["key"]?.stringValue)
        #expect(try keys(ada) == [own])
        #expect(try keys(ada, "--player", "bob") == [])
        #expect(try keys(bob) == [other])
        let shown = try kleos(ada, "show", other)
        #expect(shown.ending == .exited(65))
        #expect(!shown.output.contains("bob") && !shown.errors.contains("bob"))
        // The end of a key finds one's own only, too.
        #expect(try !kleos(ada, "show", String(other.suffix(8))).isSuccess)
        #expect(try kleos(bob, "show", other).isSuccess)
    }

    @Test("S-11: a subscription brings one's own changes only")
    func subscribing() throws {
        let errorFile = scenario.daemon.folder.path("watch.err")
        let watcher = try ada.start(
            BuiltPrograms.path("kleos"), ["watch", "--json", "--socket", scenario.daemon.socketPath],
            errorFile: errorFile)
        // The watcher is there once it has been told of something of its own.
        var first: String?
        var value = 900
        while first == nil, value > 700 {
            _ = try submit(ada, value, id: "own\(value)")
            value -= 1
            first = try? watcher.nextLine(timeoutMilliseconds: 500)
        }
        #expect(first != nil)
        for value in 1...5 { _ = try submit(bob, 600 - value, id: "secret\(value)", player: "bobby") }
        _ = try submit(ada, 5, id: "last", player: "lastplayer")
        var lines: [String] = []
        while let line = try watcher.nextLine() {
            lines.append(line)
            if line.contains("lastplayer") { break }
        }
        #expect(lines.last?.contains("lastplayer") == true)
        #expect(!lines.contains { $0.contains("bobby") })
        watcher.send(SIGKILL)
    }

    @Test("S-12: nobody but operators retries, holds, releases or discards, their own events included")
    func operating() throws {
        let key = try #require(try submit(bob, 400, id: "two", player: "bob")["key"]?.stringValue)
        for verb in ["retry", "hold", "release", "discard"] {
            for user in [ada, bob] {
                let result = try user.kleos(
                    [verb, key] + (verb == "discard" ? ["--yes"] : []), daemon: scenario.daemon)
                #expect(result.ending == .exited(77), "\(verb): \(result.output)\(result.errors)")
            }
        }
        let state = try JSONParser.parse(
            Array(try scenario.kleos("show", key, "--json", "--socket", scenario.daemon.controlPath).utf8))[
                "deliveries"]?
            .arrayValue?.first?["state"]?.stringValue
        #expect(state == "ready" || state == "sending")
    }

    @Test("S-13: a client id belongs to one user and game: nobody squats or probes another's")
    func clientIDs() throws {
        let first = try submit(ada, 500, id: "match-1")
        // The same id of another user is another event: neither a conflict nor a duplicate.
        let second = try submit(bob, 400, id: "match-1", player: "bob")
        #expect(second["duplicate"] == false)
        #expect(first["key"] != second["key"])
        let again = try submit(ada, 500, id: "match-1")
        #expect(again["duplicate"] == true)
        #expect(again["key"] == first["key"])
    }

    @Test("S-14: who is not permitted cannot submit, and is told who may")
    func permission() throws {
        let stranger = OrdinaryUser(uid: 61_003)
        let result = try kleos(stranger, "submit", "score", "minesweeper", "beginner", "1", "--player", "ada")
        #expect(result.ending == .exited(77))
        #expect(result.errors.contains("you may not submit for the game minesweeper; AllowUsers= and AllowGroups="))
        #expect(try scenario.kleos("list", "--json", "--socket", scenario.daemon.controlPath).isEmpty)
    }

    @Test("S-15: control.sock is for root, the daemon's user and the operators' group, and kleos says so")
    func control() throws {
        let refused = try kleos(ada, "hold", "--all")
        #expect(refused.ending == .exited(77))
        #expect(refused.errors.contains("cannot connect to \(scenario.daemon.controlPath): Permission denied"))
        #expect(refused.errors.contains("root and the group kleos-admin"))
        let operators = try #require(getgrnam(Self.operators)).pointee.gr_gid
        let member = OrdinaryUser(uid: 61_004, groups: [61_555, operators])
        #expect(try kleos(member, "hold", "--all").isSuccess)
        // Past the socket's mode the daemon asks again: a descriptor or a loose mode opens nothing.
        #expect(chmod(scenario.daemon.controlPath, 0o666) == 0)
        let again = try kleos(ada, "hold", "--all")
        #expect(again.ending == .exited(77))
        #expect(again.errors.contains("not-permitted"), "\(again.errors)")
    }

    @Test("S-18: nobody reads, claims or acknowledges another user's notices")
    func notices() throws {
        let endpoint = try ScriptedEndpoint([
            ScriptedEndpoint.http("200 OK", body: #"{"accepted":true,"rank":1,"improved":true}"#)
        ])
        try scenario.daemon.write("endpoints.d/home.conf", "[Endpoint]\nURL=\(endpoint.url)\n")
        try scenario.kleos("reload")
        _ = try submit(ada, 500, id: "one")
        try scenario.wait(for: "there is a notice") { try !kleos(ada, "notices", "--json").output.isEmpty }
        let own = try kleos(ada, "notices", "--json")
        #expect(own.output.contains("Beginner"))
        let other = try kleos(bob, "notices", "--json")
        #expect(other.isSuccess && other.output.isEmpty)
    }

    @Test("S-27: a daemon of an ordinary user serves its own user, and neither reads nor writes what is root's")
    func ordinaryDaemon() throws {
        let folder = try TemporaryFolder(prefix: "own")
        #expect(chmod(folder.path, 0o755) == 0)
        #expect(mkdir(folder.path("d"), 0o755) == 0 && chown(folder.path("d"), ada.uid, ada.uid) == 0)
        let daemon = try ada.start(
            BuiltPrograms.path("kleosd"), ["--private", folder.path("d")], errorFile: folder.path("err"))
        func ask(_ user: OrdinaryUser, _ arguments: [String]) throws -> ChildProcess.Result {
            try user.start(
                BuiltPrograms.path("kleos"), ["--private", folder.path("d")] + arguments,
                errorFile: folder.path("\(user.uid).err")
            ).finish()
        }
        let isUp = try Patience.until { try ask(ada, ["status"]).isSuccess }
        let said = try SmallFile.readText(at: folder.path("err"))
        #expect(isUp, "\(said)")
        #expect(try ask(ada, ["flush"]).isSuccess)
        #expect(try ask(bob, ["flush"]).ending == .exited(77))
        #expect(try ask(bob, ["list", "--json"]).output.isEmpty)
        var status = stat()
        #expect(stat(folder.path("d/outbox.db"), &status) == 0)
        #expect(status.st_uid == ada.uid && status.st_mode & 0o077 == 0)
        daemon.send(SIGTERM)
        #expect(daemon.wait() == .exited(0))
        // A folder of root's is none of an ordinary user's.
        #expect(mkdir(folder.path("root"), 0o755) == 0)
        let refused = try ada.start(
            BuiltPrograms.path("kleosd"), ["--private", folder.path("root")], errorFile: folder.path("err2")
        ).finish()
        #expect(!refused.isSuccess && refused.errors.contains("Permission denied"), "\(refused.errors)")
        #expect(try Folder.names(in: folder.path("root")).isEmpty)
    }
}
