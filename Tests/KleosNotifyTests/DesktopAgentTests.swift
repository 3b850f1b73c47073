import Glibc
import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

@Suite("The agent with a real notification service")
struct DesktopAgentTests {
    private let game = Game(
        id: "minesweeper", title: LocalizedText("Mission: Minesweeper"),
        leaderboards: [
            Leaderboard(id: "beginner", title: LocalizedText("Beginner"), order: .ascending, format: .milliseconds)
        ],
        achievements: [
            Achievement(
                id: "impossible-mission", title: LocalizedText("Impossible Mission"),
                description: LocalizedText("Won with <b>luck</b> & a cell surrounded by eight mines"), points: 100)
        ])

    @Test(
        .enabled(
            if: DesktopSession.missingPackages.isEmpty,
            "install the packages \(DesktopSession.missingPackages.joined(separator: ", ")) to run this"))
    func noticesAreShownOnceTheServiceIsThereAndThenAcknowledged() throws {
        let folder = try TemporaryFolder()
        let notices = NoticeServer()
        let now = SystemClock().read().wallMilliseconds
        notices.offer([
            NoticeServer.row(1, "impossible-mission", game: game, created: now),
            NoticeServer.row(2, "beginner", game: game, value: 12_345, created: now),
        ])
        var daemon = try ScriptedDaemon(folder: folder.path, handler: notices.answer)
        let desktop = try DesktopSession(folder: folder.path)
        let agent = try ChildProcess(
            BuiltPrograms.path("kleos"), ["agent", "--verbose", "--private", folder.path],
            environment: desktop.variables, errorFile: folder.path("agent.log"))

        // Without a notification service nothing is claimed, and so nothing is acknowledged.
        try #require(daemon.wait { requests in requests.contains { $0.method == .subscribe } })
        #expect(notices.acknowledged == [])

        try desktop.startNotifications()
        try #require(daemon.wait { _ in notices.acknowledged.count == 2 })
        #expect(notices.acknowledged.sorted() == [1, 2])
        if let picture = Environment["KLEOS_TEST_PICTURE"] { try desktop.takePicture(picture) }
        let first = try desktop.history()
        #expect(first.map(\.summary) == ["Achievement unlocked: Impossible Mission", "Beginner: 12.345 s"])
        #expect(first.map(\.application) == ["Mission: Minesweeper", "Mission: Minesweeper"])
        #expect(first.map(\.category) == ["x-kleos.achievement", "x-kleos.score"])
        try #require(first.count == 2)
        #expect(first[0].body.contains("Won with &lt;b&gt;luck&lt;/b&gt; &amp; a cell surrounded by eight mines"))
        #expect(first[0].body.contains("100 points · Mission: Minesweeper"))
        #expect(first[1].body.contains("New best · Rank 3 · Mission: Minesweeper"))

        // Many at once become one digest.
        let scores = (10..<22).map { NoticeServer.row($0, "beginner", game: game, value: 50_000, created: now) }
        let achievements = (22..<29).map { NoticeServer.row($0, "badge-\($0)", game: game, created: now) }
        notices.offer(scores + achievements)
        daemon.notify("notice", [:])
        try #require(daemon.wait { _ in notices.acknowledged.count == 21 })
        let second = try desktop.history()
        #expect(second.count == 3)
        #expect(second.last?.summary == "Mission: Minesweeper")
        #expect(second.last?.body.contains("7 achievements and 12 scores were saved while you were away") == true)

        // A daemon that restarts is found again.
        daemon.stop()
        daemon = try ScriptedDaemon(folder: folder.path, handler: notices.answer)
        notices.offer([NoticeServer.row(30, "beginner", game: game, value: 9_999, created: now)])
        try #require(daemon.wait { _ in notices.acknowledged.count == 22 })
        // It is the fourth bubble: within ten seconds it goes into the third, after that it is one of its own.
        let last = try #require(try desktop.history().last)
        #expect(last.summary == "Beginner: 9.999 s" || last.body.contains("7 achievements and 13 scores were saved"))
        agent.send(SIGTERM)
        #expect(agent.wait() == .killed(signal: SIGTERM))
        daemon.stop()
    }

    @Test(
        .enabled(
            if: DesktopSession.missingPackages.isEmpty,
            "install the packages \(DesktopSession.missingPackages.joined(separator: ", ")) to run this"))
    func nothingIsShownTwiceWhereAgentAndDaemonDieBetweenShowingAndAcknowledging() throws {
        let folder = try TemporaryFolder()
        let notices = NoticeServer()
        let now = SystemClock().read().wallMilliseconds
        notices.offer([NoticeServer.row(1, "impossible-mission", game: game, created: now)])
        // This daemon ends with every acknowledgement unheard.
        var daemon = try ScriptedDaemon(folder: folder.path) { method, parameters in
            method == .acknowledgeNotices
                ? .failure(RPCError(.unavailable, "the daemon is stopping")) : notices.answer(method, parameters)
        }
        let desktop = try DesktopSession(folder: folder.path)
        try desktop.startNotifications(stacksDuplicates: false)
        try desktop.showOne("first of all")
        func startAgent() throws -> ChildProcess {
            try ChildProcess(
                BuiltPrograms.path("kleos"), ["agent", "--verbose", "--private", folder.path],
                environment: desktop.variables, errorFile: folder.path("agent.log"))
        }
        let first = try startAgent()
        try #require(daemon.wait { requests in requests.contains { $0.method == .acknowledgeNotices } })
        first.send(SIGKILL)
        first.wait()
        daemon.stop()
        #expect(notices.acknowledged == [])

        daemon = try ScriptedDaemon(folder: folder.path, handler: notices.answer)
        let second = try startAgent()
        try #require(daemon.wait { _ in notices.acknowledged == [1] })
        let shown = try desktop.history().map(\.summary)
        #expect(shown == ["first of all", "Achievement unlocked: Impossible Mission"])
        second.send(SIGTERM)
        second.wait()
        daemon.stop()
    }
}
