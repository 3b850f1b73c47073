import Dispatch
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

// Who may be told what at the moment, and the wake-ups of routes that wait for it.

extension Server {
    /// Notices pushed at once to wake routes; what is beyond them is claimed with them.
    private static let offerLimit = 100

    // MARK: Who plays

    /// By user the players of games in the foreground, for the games that tell only the one who plays.
    private var currentPlayers: [UInt32: [NoticeScope.Players]] {
        var result: [UInt32: [String: [String]]] = [:]
        let foreground = connections.sorted { $0.key < $1.key }.compactMap(\.value.presence).filter {
            $0.state == .foreground
        }
        for presence in foreground {
            let audience = settings.games[presence.game]?.notices.audience ?? .currentPlayer
            guard audience == .currentPlayer, let player = presence.player else { continue }
            let known = result[presence.uid]?[presence.game] ?? []
            guard !ExactText.contains(known, player) else { continue }
            result[presence.uid, default: [:]][presence.game] = known + [player]
        }
        return result.mapValues { games in
            games.sorted { $0.key < $1.key }.map { NoticeScope.Players(game: $0.key, players: $0.value) }
        }
    }

    /// Tells the other parts where other players than before play.
    func playersMayHaveChanged() {
        let players = currentPlayers
        guard players != playing else { return }
        playing = players
        playersHandler?(players)
    }

    /// Takes in what a game said of itself, or, with nil, that it is gone.
    func presenceChanged(from old: Presence?, to new: Presence?) {
        guard old != new, !isStopped else { return }
        playersMayHaveChanged()
        if let old { offerNotices(to: old.uid, game: old.game) }
        if let new, new.game != old?.game { offerNotices(to: new.uid, game: new.game) }
    }

    /// Whether somebody else plays the notice's game, which tells only the one who plays.
    func waitsForItsPlayer(_ notice: Notice) -> Bool {
        (playing[notice.uid] ?? []).contains {
            $0.game == notice.game && !ExactText.contains($0.players, notice.player)
        }
    }

    /// What routes other than games may claim.
    func scopeOfOthers(uid: UInt32, game: String?, now: ClockReading) -> NoticeScope {
        let readers = presences.filter { $0.uid == uid && $0.showsNotices }.compactMap { presence in
            presence.player.map { NoticeScope.Reader(game: presence.game, player: $0) }
        }
        return NoticeScope(
            game: game, atPlay: playing[uid] ?? [], reserved: readers,
            reservedSinceMilliseconds: now.wallMilliseconds - Self.gameShareMilliseconds)
    }

    // MARK: Wake-ups

    /// Pushes to a user's waiting routes what they may claim now.
    func offerNotices(to uid: UInt32, game: String? = nil) {
        guard isAnyRouteWaiting(uid) else { return }
        let now = clock.read()
        let scope = scopeOfOthers(uid: uid, game: game, now: now)
        let timeout = settings.noticeClaimMilliseconds
        store.perform { outbox throws(StoreError) in
            try outbox.claimableNotices(
                uid: uid, scope: scope, limit: Self.offerLimit, claimTimeoutMilliseconds: timeout, now: now)
        } then: { [self] result in
            // A failed store stops the daemon by itself.
            guard case .success(let notices) = result else { return }
            self.async { server in
                for notice in notices { server.push(notice) { $0.presence == nil && $0.peer.uid == uid } }
            }
        }
    }

    private func isAnyRouteWaiting(_ uid: UInt32) -> Bool {
        subscribers.contains { id in
            guard let connection = connections[id] else { return false }
            return connection.peer.uid == uid && connection.presence == nil
                && connection.subscription?.topics.contains(.notices) == true
        }
    }

    /// Offers again once a game has had its time to show what is its.
    func offerNoticesLater(to uid: UInt32) {
        let offer: @Sendable () -> Void = { [weak self] in self?.assumeIsolated { $0.offerNotices(to: uid) } }
        let share = DispatchTimeInterval.milliseconds(Int(Self.gameShareMilliseconds))
        executor.queue.asyncAfter(deadline: .now() + share, execute: offer)
    }

    // MARK: Claims

    /// Takes `notices` back from the route in time, where it does not acknowledge them; others are told then.
    func watchClaim(_ notices: [Notice], route: String, uid: UInt32) {
        guard !notices.isEmpty, !isStopped else { return }
        let numbers = notices.map(\.number)
        endClaims(on: numbers, uid: uid)
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        let claim = NoticeClaim(route: route, uid: uid, numbers: Set(numbers), timer: timer)
        noticeClaims.append(claim)
        timer.schedule(
            deadline: .now() + .milliseconds(Int(settings.noticeClaimMilliseconds)), leeway: .milliseconds(100))
        let identity = ObjectIdentifier(claim)
        timer.setEventHandler { [weak self] in self?.assumeIsolated { $0.takeBack(identity) } }
        timer.activate()
    }

    /// Forgets the claims on notices that were shown or claimed anew.
    func endClaims(on numbers: [Int64], uid: UInt32) {
        for claim in noticeClaims where claim.uid == uid { claim.numbers.subtract(numbers) }
        noticeClaims.removeAll { $0.numbers.isEmpty }
    }

    private func takeBack(_ identity: ObjectIdentifier) {
        guard let index = noticeClaims.firstIndex(where: { ObjectIdentifier($0) == identity }) else { return }
        let claim = noticeClaims.remove(at: index)
        let (numbers, route, uid) = (claim.numbers.sorted(), claim.route, claim.uid)
        store.perform { outbox throws(StoreError) in
            try outbox.returnNotices(numbers, route: route, uid: uid)
        } then: { _ in
            // A failed store stops the daemon by itself.
        }
    }
}
