import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

extension Server {
    func notices(_ parameters: NoticesParameters, _ token: ReplyToken, _ connection: Connection) {
        let query = NoticeQuery(
            uid: connection.visibleUID, game: parameters.game, player: parameters.player,
            isPendingOnly: parameters.isPendingOnly, afterNumber: parameters.after ?? 0, limit: parameters.limit)
        ask(token) { outbox throws(StoreError) in
            try outbox.notices(query)
        } encode: { server, notices in
            .success(NoticesAnswer(notices: notices.map { server.row($0, locale: parameters.locale) }).json)
        }
    }

    /// A route takes on what it will show; always notices of its own user, also on the control socket.
    func claimNotices(
        _ parameters: ClaimNoticesParameters, _ token: ReplyToken, _ connection: Connection, now: ClockReading
    ) {
        let uid = connection.peer.uid
        ask(token) { outbox throws(StoreError) in
            try outbox.claimNotices(route: parameters.route, uid: uid, limit: parameters.limit, now: now)
        } encode: { server, notices in
            .success(NoticesAnswer(notices: notices.map { server.row($0, locale: parameters.locale) }).json)
        }
    }

    func acknowledgeNotices(
        _ parameters: AcknowledgeNoticesParameters, _ token: ReplyToken, _ connection: Connection, now: ClockReading
    ) {
        let uid = connection.peer.uid
        ask(token) { outbox throws(StoreError) in
            try outbox.acknowledgeNotices(parameters.numbers, route: parameters.route, uid: uid, now: now)
        } encode: { _, count in
            .success(["acknowledged": .integer(count)])
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
