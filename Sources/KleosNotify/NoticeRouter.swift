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
/// does not accept is returned, for the routes that ask over the socket. Tell the router of new notices before the
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
    /// Who plays, by user.
    private var playing: [UInt32: [NoticeScope.Players]] = [:]
    /// By user the last notice that the hook did not accept; it is offered later ones only, for a while.
    private var declined: [UInt32: Int64] = [:]
    private var declinedAtMilliseconds: Int64 = 0

    /// After so long the hook is offered again what it did not accept, together with the next new notice.
    private static let declineMilliseconds: Int64 = 60_000

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

    /// Takes in that a COMMIT made notices.
    package nonisolated func noticesCreated() {
        async { $0.take() }
    }

    /// Takes in who plays, by user.
    package nonisolated func playersChanged(_ playing: [UInt32: [NoticeScope.Players]]) {
        async { router in
            router.playing = playing
            router.declined = [:]
            router.feedHook()
        }
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
            declined = [:]
        }
        silence()
        feedHook()
    }

    private func take() {
        guard !isStopped else { return }
        if clock.read().monotonicMilliseconds - declinedAtMilliseconds > Self.declineMilliseconds { declined = [:] }
        feedHook()
    }

    /// Settles what is pending from before a setting came to keep it silent.
    private func silence() {
        let games = games
        let now = clock.read()
        silence(after: 0, games, now)
    }

    /// One turn of `silence`; the next follows while there is more.
    private nonisolated func silence(after: Int64, _ games: [String: Game], _ now: ClockReading) {
        store.perform { outbox throws(StoreError) in
            let page = try outbox.notices(NoticeQuery(isPendingOnly: true, afterNumber: after, limit: 500))
            for notice in page.notices where games[notice.game]?.notices.silence(notice.facts) != nil {
                _ = try outbox.acknowledgeNotices(
                    [notice.number], route: Self.mutedRoute, uid: notice.uid, now: now)
            }
            return page.next
        } then: { [self] result in
            // A failed store stops the daemon by itself.
            if case .success(let next?) = result { silence(after: next, games, now) }
        }
    }

    /// Claims the oldest notice that nobody was shown, and runs the hook with it; one at a time.
    private func feedHook() {
        guard let hook, !isStopped, hook.begin() else { return }
        let now = clock.read()
        let (playing, declined) = (playing, declined)
        store.perform { outbox throws(StoreError) -> Notice? in
            for uid in try outbox.usersWithPendingNotices() {
                let scope = NoticeScope(afterNumber: declined[uid] ?? 0, atPlay: playing[uid] ?? [])
                let claimed = try outbox.claimNotices(
                    route: HookQueue.route, uid: uid, scope: scope, limit: 1, now: now)
                if let notice = claimed.first { return notice }
            }
            return nil
        } then: { [self] result in
            async { $0.runHook(hook, with: result) }
        }
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
        let now = clock.read()
        // What a command did not accept that is set no longer, its successor has not seen.
        if !isAccepted, hook === self.hook {
            declined[notice.uid] = notice.number
            declinedAtMilliseconds = now.monotonicMilliseconds
        }
        store.perform { outbox throws(StoreError) in
            let numbers = [notice.number]
            if isAccepted {
                _ = try outbox.acknowledgeNotices(numbers, route: HookQueue.route, uid: notice.uid, now: now)
            } else {
                try outbox.returnNotices(numbers, route: HookQueue.route, uid: notice.uid)
            }
        } then: { [self] _ in
            async { $0.feedHook() }
        }
    }
}
