import Glibc
import KleosClient
import KleosJSON
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// A player follows a notice: into a game that runs in front, that runs behind, and that does not run.
@Suite("Following a notice")
struct FollowTests {
    private let scenario: Scenario
    private let started: Fifo

    init() throws {
        scenario = try Scenario()
        started = try Fifo(scenario.daemon.folder.path("started"))
        try scenario.daemon.write(
            "start.sh",
            "#!/bin/sh\necho \"$KLEOS_PLAYER $KLEOS_ACHIEVEMENT$KLEOS_LEADERBOARD $KLEOS_EVENT $*\" >'\(started.path)'\n"
        )
        chmod(scenario.daemon.folder.path("start.sh"), 0o700)
    }

    private func start(_ setting: String) throws {
        try scenario.daemon.write(
            "games.d/minesweeper.conf.d/start.conf", "[Game]\nStart=\(setting)\n")
        try scenario.daemon.start()
    }

    /// One confirmed achievement; its key.
    private func earn() throws -> String {
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", "mira")
        try scenario.drain()
        return try #require(try scenario.rows("notices").first?["key"]?.stringValue)
    }

    @Test("A game that does not run is started with the event")
    func starts() throws {
        try start("\(scenario.daemon.folder.path("start.sh")) --from notice")
        let key = try earn()
        #expect(try scenario.kleos("open", "1") == "Mission: Minesweeper was started\n")
        #expect(try started.nextLine() == "mira first-win \(key) --from notice")
    }

    @Test("A .desktop file says how")
    func startsByDesktopFile() throws {
        try start("org.example.Mines.desktop")
        let key = try earn()
        let data = scenario.daemon.folder.path("data")
        try scenario.daemon.write(
            "data/applications/org.example.Mines.desktop",
            "[Desktop Entry]\nName=Mines\nPath=\(scenario.daemon.folder.path)\nExec=\"./start.sh\" %u --desktop\n")
        let result = try ChildProcess(
            BuiltPrograms.path("kleos"), ["open", "1"],
            environment: ["KLEOS_SOCKET": scenario.daemon.socketPath, "XDG_DATA_HOME": data],
            errorFile: scenario.daemon.folder.path("open.err")
        ).finish()
        #expect(result.isSuccess, "\(result.errors)")
        #expect(try started.nextLine() == "mira first-win \(key) --desktop")
    }

    @Test("A game that runs is told, in front and behind, and not started", arguments: [true, false])
    func tells(isForeground: Bool) throws {
        try start(scenario.daemon.folder.path("start.sh"))
        let key = try earn()
        let told = DispatchQueueOfRequests()
        let game = KleosClient(game: "minesweeper", player: "mira", socketPath: scenario.daemon.socketPath)
        game.onOpen { told.put($0) }
        game.onNotice { _ in }
        game.setForeground(isForeground)
        #expect(game.waitUntilIdle(timeoutMilliseconds: 600_000))
        let answer = try scenario.rows("open", "1")
        #expect(answer.first?["state"] == .string(isForeground ? "foreground" : "background"))
        #expect(answer.first?["told"] == true)
        #expect(answer.first?["start"] == nil)
        let request = try #require(told.next())
        #expect(request.notice.key == key)
        #expect(request.notice.achievement == "first-win")
        #expect(request.notice.player == "mira")
        // Once it is gone, it is started again.
        game.close()
        let isGone = try Patience.until { try scenario.rows("open", "1").first?["state"] == "not-running" }
        #expect(isGone)
        #expect(try started.nextLine().hasPrefix("mira first-win \(key)"))
    }

    @Test("Says so where nothing starts the game, and where there is no such notice")
    func complains() throws {
        try scenario.daemon.start()
        _ = try earn()
        let unknown = try scenario.daemon.kleos(["open", "1"])
        #expect(unknown.ending == .exited(1))
        #expect(unknown.errors.contains("Mission: Minesweeper does not run, and its file does not say what starts it"))
        let none = try scenario.daemon.kleos(["open", "99"])
        #expect(none.ending == .exited(65))
        #expect(none.errors.contains("there is no notice 99"))
    }

    @Test("kleos notices --follow prints what comes")
    func follows() throws {
        try scenario.daemon.start()
        _ = try earn()
        let follower = try scenario.daemon.startKleos(["notices", "--follow", "--json"])
        let first = try JSONParser.parse(Array(try #require(try follower.nextLine()).utf8))
        #expect(first["achievement"] == "first-win")
        try scenario.daemonSubmit(player: "mira", value: 12_345)
        try scenario.drain()
        let second = try JSONParser.parse(Array(try #require(try follower.nextLine()).utf8))
        #expect(second["leaderboard"] == "beginner")
        #expect(second["number"] == 2)
        follower.send(SIGTERM)
        follower.wait()
    }
}

/// What a game was told on its client's queue, for the test's thread.
private final class DispatchQueueOfRequests: Sendable {
    private let requests = Mutex<[KleosOpenRequest]>([])

    func put(_ request: KleosOpenRequest) { requests.withLock { $0.append(request) } }

    func next() -> KleosOpenRequest? {
        var request: KleosOpenRequest?
        _ = Patience.until {
            request = requests.withLock { $0.first }
            return request != nil
        }
        return request
    }
}
