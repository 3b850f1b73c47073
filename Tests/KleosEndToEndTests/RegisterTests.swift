import Dispatch
import Glibc
import KleosClient
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// Games that bring their own catalog to a user's daemon.
@Suite("Registering a catalog")
struct RegisterTests {
    private let daemon: DaemonHarness
    private static let catalog =
        "[Game]\nId=own\nTitle=Own Game\nPlayer=ada\n[Leaderboard fastest]\nOrder=ascending\n[Achievement first]\nPoints=5\n"

    init() throws {
        daemon = try DaemonHarness(files: [
            "kleosd.conf": "[Daemon]\nRegisteredEndpoints=home\n",
            "endpoints.d/home.conf": "[Endpoint]\nURL=http://127.0.0.1:9\n",
            "games.d/fixed.conf": "[Game]\nEndpoints=home\n[Leaderboard b]\n",
        ])
        try daemon.start()
    }

    private func register(_ catalog: String) throws -> ChildProcess.Result {
        try daemon.write("catalog", catalog)
        return try daemon.kleos(["register", daemon.folder.path("catalog")])
    }

    @Test("A catalog makes its game known, now and after a restart, and says whether it was new")
    func registers() throws {
        let submit = ["submit", "score", "own", "fastest", "100"]
        #expect(try daemon.kleos(submit).ending == .exited(65))
        #expect(try register(Self.catalog).output == "own is registered: 1 leaderboard, 1 achievement\n")
        #expect(try daemon.kleos(submit).isSuccess)
        #expect(try register(Self.catalog).output == "own was registered so before: 1 leaderboard, 1 achievement\n")
        daemon.kill()
        try daemon.start()
        #expect(try daemon.kleos(submit).isSuccess)
        #expect(try daemon.kleos(["submit", "achievement", "own", "first"]).isSuccess)
        let longer = Self.catalog + "[Leaderboard slowest]\n"
        #expect(try register(longer).output == "own is registered: 2 leaderboards, 1 achievement\n")
        #expect(try daemon.kleos(["submit", "score", "own", "slowest", "7"]).isSuccess)
    }

    @Test("The client library brings a catalog, and submits for it on the same connection")
    func client() throws {
        let client = KleosClient(game: "own", socketPath: daemon.socketPath)
        let answers = Mutex<[String]>([])
        let done = DispatchSemaphore(value: 0)
        client.register(catalog: "[Game]\nId=own\nTytle=x\n") { result in
            if case .failure(let error) = result { answers.withLock { $0.append("\(error)") } }
            done.signal()
        }
        client.register(catalog: Self.catalog) { result in
            answers.withLock { $0.append("\(result)") }
            done.signal()
        }
        for _ in 0..<2 { try #require(done.wait(timeout: Patience.end) == .success) }
        let (refused, taken) = try answers.withLock { ($0.first ?? "", try #require($0.last)) }
        #expect(refused.contains("catalog:3"), "\(refused)")
        #expect(taken.contains("registered"), "\(taken)")
        client.submitScore(90, leaderboard: "fastest") { result in
            answers.withLock { $0.append("\(result)") }
            done.signal()
        }
        try #require(done.wait(timeout: Patience.end) == .success)
        #expect(answers.withLock { $0.last }?.hasPrefix("success") == true)
        client.close()
    }

    @Test("S-29: a game's catalog says neither where events go, nor who may submit, nor what is run")
    func refusals() throws {
        for line in [
            "Endpoints=home", "AllowUsers=*", "AllowGroups=games", "AllowUnits=*", "Players=ada", "Start=/bin/sh",
            "Notices=none", "Command=/bin/sh",
        ] {
            let result = try register("[Game]\nId=own\n\(line)\n")
            #expect(result.ending == .exited(65), "\(line): \(result.output)\(result.errors)")
            #expect(result.errors.contains("catalog:3"), "\(result.errors)")
        }
        #expect(try !register("[Game]\nTitle=None\n").isSuccess)
        #expect(try !register("[Game]\nId=../escape\n").isSuccess)
        #expect(access(daemon.folder.path("escape.conf"), F_OK) != 0)
        #expect(try daemon.kleos(["submit", "score", "own", "b", "1"]).ending == .exited(65))
    }

    @Test("S-29: a game that a file describes stays as it is")
    func configured() throws {
        let result = try register("[Game]\nId=fixed\nPlayer=eve\n[Leaderboard b]\nOrder=ascending\n")
        #expect(result.output == "fixed is described by a file in games.d, which stays in force\n")
        // Without a player in its file, the game's events have to name one.
        #expect(try daemon.kleos(["submit", "score", "fixed", "b", "1"]).errors.contains("player"))
    }

    @Test("A catalog that does not fit what was configured later is left out, and the rest goes on")
    func unfitting() throws {
        #expect(try register(Self.catalog + "[Leaderboard every]\nKeep=every\n").isSuccess)
        try daemon.write("endpoints.d/home.conf", "[Endpoint]\nURL=http://127.0.0.1:9\nResend=keeps-best\n")
        let result = try daemon.kleos(["reload"])
        #expect(result.isSuccess, "\(result.errors)")
        #expect(try daemon.log.contains("registered.d/own.conf:10"))
        #expect(try daemon.kleos(["submit", "score", "own", "fastest", "1"]).ending == .exited(65))
        #expect(try daemon.kleos(["submit", "score", "fixed", "b", "1", "--player", "ada"]).isSuccess)
    }

    @Test("Where no endpoint is named for them, catalogs are refused with what to do")
    func off() throws {
        let other = try DaemonHarness(files: [:])
        try other.start()
        try other.write("catalog", Self.catalog)
        let result = try other.kleos(["register", other.folder.path("catalog")])
        #expect(result.ending == .exited(77))
        #expect(result.errors.contains("RegisteredEndpoints="))
    }

    @Test(
        "S-29: another user brings no catalog, permitted or not",
        .enabled(if: OrdinaryUser.isRoot, OrdinaryUser.whySkipped))
    func otherUsers() throws {
        try #require(chmod(daemon.folder.path, 0o755) == 0)
        try daemon.write("catalog", Self.catalog)
        try #require(chmod(daemon.folder.path("catalog"), 0o644) == 0)
        let result = try OrdinaryUser.ada.kleos(["register", daemon.folder.path("catalog")], daemon: daemon)
        #expect(result.ending == .exited(77))
        #expect(result.errors.contains("from its own user only"))
        #expect(access(daemon.folder.path("registered.d"), F_OK) != 0)
    }
}
