import KleosConfig
import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

extension Server {
    /// The route of games that show notices themselves.
    static let gameRoute = "game"
    /// The route of the desktop's agent.
    static let desktopRoute = "desktop"
    /// How long a notice is left to the game that shows it, in milliseconds; then other routes may have it.
    static let gameShareMilliseconds: Int64 = 10_000

    func notices(_ parameters: NoticesParameters, _ token: ReplyToken, _ connection: Connection) {
        let query = NoticeQuery(
            uid: connection.visibleUID, game: parameters.game, player: parameters.player,
            isPendingOnly: parameters.isPendingOnly, afterNumber: parameters.after ?? 0, limit: parameters.limit)
        gather(token, limit: query.limit) { outbox, after, limit throws(StoreError) in
            var turn = query
            turn.afterNumber = max(after, query.afterNumber)
            turn.limit = limit
            let page = try outbox.notices(turn)
            return (page.notices, page.next)
        } encode: { server, notices in
            .success(NoticesAnswer(notices: notices.map { server.row($0, locale: parameters.locale) }).json)
        }
    }

    /// A route takes on what it will show; always notices of its own user, also on the control socket.
    func claimNotices(
        _ parameters: ClaimNoticesParameters, _ token: ReplyToken, _ connection: Connection, now: ClockReading
    ) {
        let uid = connection.peer.uid
        let digestAfter = settings.notices.digestAfterMilliseconds
        guard let scope = scope(of: parameters, connection, now: now) else {
            return reply(token, .success(NoticesAnswer(notices: [], digestAfterMilliseconds: digestAfter).json))
        }
        let timeout = settings.noticeClaimMilliseconds
        ask(token) { outbox throws(StoreError) in
            let claimed = try outbox.claimNotices(
                route: parameters.route, uid: uid, scope: scope, limit: parameters.limit,
                claimTimeoutMilliseconds: timeout, now: now)
            guard !scope.reserved.isEmpty else { return (claimed, false) }
            var open = scope
            open.reserved = []
            let left = try outbox.claimableNotices(
                uid: uid, scope: open, limit: 1, claimTimeoutMilliseconds: timeout, now: now)
            return (claimed, !left.isEmpty)
        } encode: { server, outcome in
            let (claimed, isMoreReserved) = outcome
            server.watchClaim(claimed, route: parameters.route, uid: uid)
            if isMoreReserved { server.offerNoticesLater(to: uid) }
            let rows = claimed.map { server.row($0, locale: parameters.locale) }
            return .success(NoticesAnswer(notices: rows, digestAfterMilliseconds: digestAfter).json)
        }
    }

    /// What the route may claim; nil for a game in the background, which leaves its notices to others, and for a
    /// desktop that is not to be used.
    private func scope(
        of parameters: ClaimNoticesParameters, _ connection: Connection, now: ClockReading
    ) -> NoticeScope? {
        if parameters.route == Self.desktopRoute, !settings.notices.usesDesktop { return nil }
        guard parameters.route == Self.gameRoute else {
            return scopeOfOthers(uid: connection.peer.uid, game: parameters.game, now: now)
        }
        guard let presence = connection.presence else { return NoticeScope(game: parameters.game) }
        guard presence.state == .foreground else { return nil }
        let isForAll = settings.games[presence.game]?.notices.audience == .all
        return NoticeScope(game: presence.game, player: isForAll ? nil : presence.player)
    }

    func acknowledgeNotices(
        _ parameters: AcknowledgeNoticesParameters, _ token: ReplyToken, _ connection: Connection, now: ClockReading
    ) {
        let uid = connection.peer.uid
        ask(token) { outbox throws(StoreError) in
            try outbox.acknowledgeNotices(parameters.numbers, route: parameters.route, uid: uid, now: now)
        } encode: { server, count in
            server.endClaims(on: parameters.numbers, uid: uid)
            return .success(["acknowledged": .integer(count)])
        }
    }

    /// A notice with its words.
    func row(_ notice: Notice, locale: String?) -> NoticeRow {
        NoticeRow(
            notice,
            text: NoticeText.text(
                for: notice.facts, gameID: notice.game, game: settings.games[notice.game], locale: locale))
    }
}
