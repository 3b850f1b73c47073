import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// What ordinary users can do with a spool that everybody may write to, as the system's daemon has.
@Suite("Security: the spool", .enabled(if: OrdinaryUser.isRoot, OrdinaryUser.whySkipped))
struct SecuritySpoolTests {
    private let scenario: SecurityScenario
    private let daemonUser = OrdinaryUser(uid: 61_000)
    private let ada = OrdinaryUser.ada
    private let bob = OrdinaryUser.bob
    private let eve = OrdinaryUser(uid: 61_003)

    private var daemon: DaemonHarness { scenario.daemon }
    private var spool: String { daemon.folder.path("spool") }

    /// A daemon of an ordinary user of its own, with a spool as systemd-tmpfiles makes it.
    init() throws {
        scenario = try SecurityScenario(
            url: "http://127.0.0.1:9", game: "AllowUsers=\(OrdinaryUser.ada.uid) \(OrdinaryUser.bob.uid)\n")
        try scenario.openFolder()
        try Folder.make(spool)
        try Self.give(daemon.folder.path, to: daemonUser.uid)
        try #require(chmod(spool, 0o3733) == 0)
        for user in [ada, bob, eve] {
            let own = daemon.folder.path("of-\(user.uid)")
            try #require(mkdir(own, 0o700) == 0 && chown(own, user.uid, user.uid) == 0)
        }
        try start()
    }

    private static func give(_ path: String, to uid: UInt32) throws {
        try #require(lchown(path, uid, uid) == 0)
        guard Folder.exists(path) else { return }
        for name in try Folder.names(in: path) { try give("\(path)/\(name)", to: uid) }
    }

    private func start() throws {
        let script = "chmod 666 \"$1\"; shift; exec setpriv --reuid 61000 --regid 61000 --clear-groups -- \"$@\""
        try daemon.start(through: ["/bin/sh", "-c", script, "sh", daemon.folder.path("notify.sock")])
    }

    /// Runs a script as `user` in a folder of that user's, with the spool's path in `$1`.
    @discardableResult
    private func sh(_ user: OrdinaryUser, _ script: String) throws -> ChildProcess.Result {
        let own = daemon.folder.path("of-\(user.uid)")
        let errorFile = daemon.folder.path("sh.\(user.uid).err")
        unlink(errorFile)
        return try user.start(
            "/bin/sh", ["-c", "cd \(own) && umask 027 && \(script)", "sh", spool], errorFile: errorFile
        )
        .finish()
    }

    /// Writes a file into the spool as `user`.
    private func put(_ user: OrdinaryUser, _ name: String, _ text: String) throws {
        let result = try sh(user, "printf '%s' '\(text)' > \"$1/.\(name)\" && mv \"$1/.\(name)\" \"$1/\(name)\"")
        try #require(result.isSuccess, "\(result.errors)")
    }

    private static func score(_ value: Int, id: String) -> String {
        "{\"kind\":\"score\",\"game\":\"minesweeper\",\"leaderboard\":\"beginner\",\"value\":\(value),"
            + "\"player\":\"p\",\"id\":\"\(id)\"}"
    }

    /// The spool as an operator sees it, once `isTrue`.
    @discardableResult
    private func wait(until isTrue: (SpoolStatus) -> Bool) throws -> SpoolStatus {
        var last: SpoolStatus?
        let isSeen = try Patience.until {
            let text = try scenario.kleos("status", "--json", "--socket", daemon.controlPath)
            let status = try #require(StatusAnswer(json: try JSONParser.parse(Array(text.utf8))).spool)
            last = status
            return isTrue(status)
        }
        let log = try daemon.log
        try #require(isSeen, "\(String(describing: last)) \(log)")
        return try #require(last)
    }

    /// The recorded events, as client id and submitting user.
    private func recorded() throws -> [String] {
        let listed = try scenario.kleos("list", "--json", "--socket", daemon.controlPath)
        return try listed.split(separator: "\n").map { line in
            let key = try #require(try JSONParser.parse(Array(line.utf8))["key"]?.stringValue)
            let text = try scenario.kleos("show", key, "--json", "--socket", daemon.controlPath)
            let event = try #require(try JSONParser.parse(Array(text.utf8))["event"])
            return "\(event["id"]?.stringValue ?? "") \(event["submitter"]?["uid"]?.int64Value ?? -1)"
        }.sorted()
    }

    @Test(
        "S-70: links, pipes, folders, second names and files made elsewhere are not taken in; what they lead to stays")
    func irregular() throws {
        let secret = daemon.folder.path("secret")
        try SmallFile.replace(secret, with: Array(Self.score(1, id: "secret").utf8))
        try sh(ada, "ln -s \(secret) \"$1/link.json\"; mkfifo \"$1/pipe.json\"; mkdir \"$1/folder\" \"$1/taken\"")
        try sh(ada, "echo x > \"$1/taken/inside\"; ln -s /dev/zero \"$1/zero.json\"; ln -s \(spool) \"$1/loop\"")
        try sh(ada, "echo '\(Self.score(2, id: "two"))' > own && ln own \"$1/.x\" && mv \"$1/.x\" \"$1/hard.json\"")
        try sh(ada, "echo '\(Self.score(3, id: "three"))' > other && chmod 644 other && mv other \"$1/moved.json\"")
        try put(ada, "good.json", Self.score(4, id: "good"))
        let status = try wait { $0.takenIn == 1 && $0.rejected == 6 }
        let files = Set(status.rejections.map(\.file))
        #expect(files == ["link.json", "pipe.json", "zero.json", "loop", "hard.json", "moved.json"])
        #expect(status.rejections.allSatisfy { $0.uid == ada.uid })
        #expect(try recorded() == ["good \(ada.uid)"])
        #expect(try SmallFile.readText(at: secret).contains("secret"))
        #expect(access("/dev/zero", R_OK) == 0)
    }

    @Test("S-71: the owner of a file submits it, for permitted games only, and among that user's own ids")
    func owners() throws {
        try put(ada, "a.json", Self.score(500, id: "one"))
        try put(bob, "b.json", Self.score(600, id: "one"))
        try put(eve, "e.json", Self.score(400, id: "one"))
        let status = try wait { $0.takenIn == 2 && $0.rejected == 1 }
        #expect(status.rejections.first?.uid == eve.uid && status.rejections.first?.reason == "not-permitted")
        #expect(try recorded() == ["one \(ada.uid)", "one \(bob.uid)"])
    }

    @Test("S-72: nobody lists the spool, or reads, replaces, renames or removes another user's file in it")
    func others() throws {
        daemon.stop()
        let result = try ada.start(
            BuiltPrograms.path("kleos"),
            ["submit", "score", "minesweeper", "beginner", "77", "--player", "p", "--timeout", "1", "--json"],
            environment: ["KLEOS_SOCKET": daemon.socketPath, "KLEOS_SPOOL": spool],
            errorFile: daemon.folder.path("submit.err")
        ).finish()
        try #require(result.isSuccess, "\(result.output) \(result.errors)")
        let path = try #require(try JSONParser.parse(Array(result.output.utf8))["path"]?.stringValue)
        let text = try SmallFile.readText(at: path)
        try sh(bob, "echo forged > \"$1/.forged\"")
        for attempt in [
            "ls \"$1\"", "cat \(path)", "echo more >> \(path)", "rm -f \(path)", "mv \(path) stolen",
            "mv -f \"$1/.forged\" \(path)", "ls \"$1/taking\"", "ls \"$1/rejected\"", "rmdir \"$1/taking\"",
            "mv \"$1/rejected\" \"$1/x\"", "echo x > \"$1/taking/x\"",
        ] {
            let result = try sh(bob, attempt)
            #expect(!result.isSuccess, "\(attempt)")
        }
        #expect(try SmallFile.readText(at: path) == text)
        try start()
        try wait { $0.takenIn == 1 }
        #expect(try recorded().first?.hasSuffix(" \(ada.uid)") == true)
    }

    @Test("S-73: a huge file is neither read nor kept, and one that the daemon may not read keeps nothing else out")
    func sizes() throws {
        try sh(ada, "truncate -s 1T \"$1/.huge\" && mv \"$1/.huge\" \"$1/huge.json\"")
        try sh(
            ada,
            "echo '\(Self.score(1, id: "x"))' > \"$1/.own\" && chmod 600 \"$1/.own\" && mv \"$1/.own\" \"$1/own.json\"")
        try put(bob, "good.json", Self.score(4, id: "good"))
        let status = try wait { $0.takenIn == 1 && $0.rejected == 2 }
        let reasons = status.rejections.map { "\($0.file) \($0.reason)" }.sorted()
        #expect(reasons == ["huge.json too-large", "own.json not-permitted"])
        let kept = try Folder.names(in: daemon.folder.path("spool/rejected")).filter { !$0.hasSuffix(".error") }
        #expect(kept.count == 1 && kept.first?.hasPrefix("own.json~") == true)
    }

    @Test("S-75: what was rejected, and why, is told to its owner and to operators")
    func telling() throws {
        try put(ada, "private-name.json", "{\"game\":\"nogame\"}")
        try wait { $0.rejected == 1 }
        let own = try ada.kleos(["status"], daemon: daemon)
        #expect(own.output.contains("private-name.json"), "\(own.output)")
        let other = try bob.kleos(["status"], daemon: daemon)
        #expect(other.isSuccess && !other.output.contains("private-name"))
        let json = try bob.kleos(["status", "--json"], daemon: daemon)
        #expect(json.isSuccess && !json.output.contains("private-name") && !json.output.contains("parse"))
    }
}
