import Dispatch
package import KleosConfig
import KleosJSON
package import KleosModel
package import KleosStore
package import KleosSupport
import KleosWire

/// The daemon's side of telling: settles notices that settings keep silent, and feeds the command hook.
///
/// The hook is the first route: it claims a notice, and what it accepts (exit status 0) counts as shown. What it
/// does not accept is left to the routes that ask over the socket. Tell the router of new notices before the
/// subscribers, so that its claim comes first.
package actor NoticeRouter: QueueActor {
    package nonisolated let executor = QueueExecutor(label: "kleos.notices")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let store: Store
    private let clock: any Clock
    private let log: Log
    private var settings: NoticeRoutes
    private var games: [String: Game]
    private var hook: HookQueue?
    private var isStopped = false

    /// The route's name of notices that a setting keeps silent.
    package static let mutedRoute = "muted"

    /// Makes a router; nothing happens before `start`.
    package init(store: Store, settings: NoticeRoutes, games: [String: Game], clock: any Clock, log: Log) {
        self.store = store
        self.settings = settings
        self.games = games
        self.clock = clock
        self.log = log
    }

    /// Feeds the hook what an earlier run of the daemon left.
    package nonisolated func start() {
        async { $0.refresh() }
    }

    /// Applies new settings and games.
    package nonisolated func configure(settings: NoticeRoutes, games: [String: Game]) {
        async { router in
            router.settings = settings
            router.games = games
            router.refresh()
        }
    }

    /// Takes in notices that a COMMIT made.
    package nonisolated func noticesCreated(_ notices: [Notice]) {
        async { $0.take(notices) }
    }

    /// Ends a running command and calls `completion` on the router's queue; may be called twice.
    package nonisolated func stop(then completion: @escaping @Sendable () -> Void) {
        async { router in
            router.isStopped = true
            guard let hook = router.hook else { return completion() }
            router.hook = nil
            hook.stop { router.async { _ in completion() } }
        }
    }

    private func refresh() {
        guard !isStopped else { return }
        let command = settings.command
        let wanted =
            command.isEmpty
            ? nil : CommandHook(command: command, timeoutMilliseconds: settings.commandTimeoutMilliseconds)
        if hook?.hook != wanted {
            hook?.stop {}
            hook = wanted.map { HookQueue(hook: $0, log: log) }
        }
        feedHook()
    }

    private func take(_ notices: [Notice]) {
        guard !isStopped else { return }
        var isTold = false
        for notice in notices {
            let rule = games[notice.game]?.notices ?? NoticeSettings()
            let verdict = NoticeFilter.verdict(
                notice.facts, player: notice.player, settings: rule, present: [])
            if case .drop(let why) = verdict { mute(notice, why) } else { isTold = true }
        }
        if isTold { feedHook() }
    }

    private func mute(_ notice: Notice, _ why: String) {
        let now = clock.read()
        log(.debug, "a notice is not told: \(why)", ["notice": String(notice.number), "game": notice.game])
        store.perform { outbox throws(StoreError) in
            try outbox.acknowledgeNotices(
                [notice.number], route: Self.mutedRoute, uid: notice.uid, now: now)
        } then: { _ in
            // A failed store stops the daemon by itself.
        }
    }

    /// Claims the oldest notice that nobody was shown, and runs the hook with it; one at a time.
    private func feedHook() {
        guard let hook, !isStopped, hook.begin() else { return }
        let now = clock.read()
        store.perform { outbox throws(StoreError) -> Notice? in
            for uid in try Self.waitingUsers(outbox) {
                let claimed = try outbox.claimNotices(
                    route: HookQueue.route, uid: uid, limit: 1, now: now)
                if let notice = claimed.first { return notice }
            }
            return nil
        } then: { [self] result in
            async { $0.runHook(hook, with: result) }
        }
    }

    private static func waitingUsers(_ outbox: Outbox) throws(StoreError) -> [UInt32] {
        var users: [UInt32] = []
        for notice in try outbox.notices(NoticeQuery(isPendingOnly: true, limit: 500))
        where !users.contains(notice.uid) {
            users.append(notice.uid)
        }
        return users
    }

    private func runHook(_ hook: HookQueue, with result: Result<Notice?, StoreError>) {
        guard !isStopped, case .success(let notice?) = result else {
            if hook.end() { feedHook() }
            return
        }
        let text = NoticeText.text(
            for: notice.facts, gameID: notice.game, game: games[notice.game], locale: Environment["LANG"])
        let input = NoticeRow(notice, text: text).json.serializedBytes + [UInt8(ascii: "\n")]
        hook.run(input, number: notice.number) { [self] isAccepted in
            async { $0.hookEnded(hook, notice, isAccepted: isAccepted) }
        }
    }

    private func hookEnded(_ hook: HookQueue, _ notice: Notice, isAccepted: Bool) {
        _ = hook.end()
        // What was not accepted is for other routes once its claim lapses.
        guard isAccepted else { return feedHook() }
        let now = clock.read()
        store.perform { outbox throws(StoreError) in
            try outbox.acknowledgeNotices([notice.number], route: HookQueue.route, uid: notice.uid, now: now)
        } then: { [self] _ in
            async { $0.feedHook() }
        }
    }
}
