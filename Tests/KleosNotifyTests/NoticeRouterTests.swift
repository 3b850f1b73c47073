import Dispatch
import Glibc
import KleosConfig
import KleosJSON
import KleosModel
import KleosNotify
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

@Suite("The daemon's router of notices")
struct NoticeRouterTests {
    private let storage: TemporaryStore
    private let folder: TemporaryFolder

    init() throws {
        storage = try TemporaryStore()
        folder = try TemporaryFolder()
    }

    private func settings(
        hook: String?, file: String = "hook", timeoutMilliseconds: Int64 = 30_000
    ) throws -> NoticeRoutes {
        var routes = NoticeRoutes()
        routes.commandTimeoutMilliseconds = timeoutMilliseconds
        if let hook {
            let path = folder.path(file)
            try SmallFile.replace(path, with: Array("#!/bin/sh\ncd '\(folder.path)'\n\(hook)\n".utf8), mode: 0o700)
            routes.command = [path]
        }
        return routes
    }

    private func router(
        hook: String?, game: Game = Game(id: "g"), timeoutMilliseconds: Int64 = 30_000
    ) throws -> NoticeRouter {
        let settings = try settings(hook: hook, timeoutMilliseconds: timeoutMilliseconds)
        let router = NoticeRouter(
            store: storage.store, settings: settings, games: ["g": game], clock: storage.clock,
            log: Log(threshold: .error))
        storage.store.setChangeHandler { changes in
            if !changes.notices.isEmpty { router.noticesCreated() }
        }
        router.start()
        return router
    }

    /// Delivers an achievement, which makes a notice.
    private func unlock(_ id: String) throws {
        let now = storage.clock.read()
        var random = SeededGenerator.unpredictable()
        let event = Event(
            key: EventKey.version7(wallMilliseconds: now.wallMilliseconds, random: &random), clientID: nil, game: "g",
            player: "ada", subject: .achievement(id: id, change: .progress(100)), occurredAtMilliseconds: nil,
            metadata: nil, recorded: now, submitter: Submitter(uid: 1_000, pid: 1))
        let attempt = Attempt(
            number: 1, startedMilliseconds: now.wallMilliseconds, durationMilliseconds: 1, outcome: .delivered)
        let facts = NoticeFacts(kind: .achievement, item: id)
        try storage.run { outbox throws(StoreError) in
            _ = try outbox.accept(
                event,
                fanOut: [
                    FanOut(endpoint: "home", merge: .none, isStrict: false, priority: .achievement, confirms: true)
                ])
            for claim in try outbox.claim(
                endpoint: "home", limit: 10, nowMilliseconds: now.wallMilliseconds)
            {
                _ = try outbox.settle(
                    claim.id, attempt: attempt, settlement: .delivered(Confirmation(), notice: .news(facts)),
                    mayHaveTakenEffect: true, now: now)
            }
        }
    }

    private func notices(isPendingOnly: Bool = false) throws -> [Notice] {
        try storage.run { outbox throws(StoreError) in
            try outbox.notices(NoticeQuery(isPendingOnly: isPendingOnly)).notices
        }
    }

    /// Waits until every notice was shown; false if that never happens.
    private func areAllShown(_ count: Int) throws -> Bool {
        try Patience.until {
            let all = try notices()
            return all.count == count && all.allSatisfy { $0.route != nil }
        }
    }

    private func stop(_ router: NoticeRouter) {
        let done = DispatchSemaphore(value: 0)
        router.stop { done.signal() }
        done.wait()
        storage.close()
    }

    @Test func theHookGetsEachNoticeOnceAndInOrder() throws {
        let router = try router(hook: "cat >> seen")
        for id in ["a", "b", "c"] { try unlock(id) }
        #expect(try areAllShown(3))
        #expect(try notices().map(\.route) == ["command", "command", "command"])
        let lines = try SmallFile.readText(at: folder.path("seen")).split(separator: "\n")
        let rows = try lines.map { try JSONParser.parse(Array($0.utf8)) }
        #expect(rows.map { $0["achievement"]?.stringValue } == ["a", "b", "c"])
        #expect(rows.first?["title"] == "Achievement unlocked: a")
        stop(router)
    }

    @Test func aHookThatFailsIsTriedAgain() throws {
        // The first run fails, the second does not.
        let router = try router(hook: "cat > seen; test -e tried || { touch tried; exit 1; }")
        try unlock("a")
        #expect(try areAllShown(1))
        stop(router)
    }

    @Test func whatAnEarlierRunLeftIsTold() throws {
        try unlock("a")
        #expect(try notices(isPendingOnly: true).count == 1)
        let router = try router(hook: "cat > /dev/null")
        #expect(try areAllShown(1))
        stop(router)
    }

    @Test func whatASettingSilencedMeanwhileIsSettledAtTheStart() throws {
        let game = Game(id: "g", notices: NoticeSettings(kinds: [.score]))
        try unlock("a")
        let router = try router(hook: nil, game: game)
        #expect(try areAllShown(1))
        #expect(try notices().map(\.route) == ["muted"])
        stop(router)
    }

    @Test(.timeLimit(.minutes(30)))
    func whatTheHookDeclinesIsReturnedAtOnce() throws {
        let router = try router(hook: "cat >> seen; exit 1")
        let returned = DispatchSemaphore(value: 0)
        storage.store.setChangeHandler { changes in
            if !changes.notices.isEmpty { router.noticesCreated() }
            for _ in changes.returnedNotices { returned.signal() }
        }
        try unlock("a")
        returned.wait()
        // The clock stands still: the claim has not lapsed, it was given up.
        let now = storage.clock.read()
        let claimed = try storage.run { outbox throws(StoreError) in
            try outbox.claimNotices(route: "desktop", uid: 1_000, limit: 10, now: now)
        }
        #expect(claimed.map(\.facts.item) == ["a"])
        stop(router)
    }

    @Test func theHookLeavesNoticesOfAPlayerWhoIsAway() throws {
        let router = try router(hook: "cat >> seen")
        router.playersChanged([1_000: [NoticeScope.Players(game: "g", players: ["bob"])]])
        try unlock("a")
        router.playersChanged([:])
        #expect(try areAllShown(1))
        stop(router)
    }

    @Test func withoutAHookNoticesWaitForOtherRoutes() throws {
        let router = try router(hook: nil)
        try unlock("a")
        let now = storage.clock.read()
        let claimed = try storage.run { outbox throws(StoreError) in
            try outbox.claimNotices(route: "desktop", uid: 1_000, limit: 10, now: now)
        }
        #expect(claimed.count == 1)
        stop(router)
    }

    @Test(.timeLimit(.minutes(30)))
    func anotherCommandIsOfferedWhatTheOneBeforeItWasAtWorkOn() throws {
        let router = try router(hook: "touch started; sleep 100000", timeoutMilliseconds: 86_400_000)
        try unlock("a")
        #expect(Patience.until { access(folder.path("started"), F_OK) == 0 })
        router.configure(settings: try settings(hook: "cat >> seen", file: "other"), games: ["g": Game(id: "g")])
        #expect(try areAllShown(1))
        #expect(try SmallFile.readText(at: folder.path("seen")).contains(#""achievement":"a""#))
        stop(router)
    }

    @Test(.timeLimit(.minutes(30)))
    func stoppingEndsARunningHook() throws {
        let router = try router(hook: "touch started; sleep 100000", timeoutMilliseconds: 86_400_000)
        try unlock("a")
        #expect(Patience.until { access(folder.path("started"), F_OK) == 0 })
        // Without an early end this takes a day.
        stop(router)
    }
}
