import KleosModel
import KleosStore
import KleosSupport
import KleosWire

extension Server {
    /// Brings a notice's game forward where it runs, or says what starts it.
    func openNotice(_ parameters: OpenNoticeParameters, _ token: ReplyToken, _ connection: Connection) {
        let uid = connection.peer.uid
        // Any number may be asked for, the smallest that there is included.
        let before = max(parameters.number, 1) - 1
        ask(token) { outbox throws(StoreError) in
            try outbox.notices(NoticeQuery(uid: uid, afterNumber: before, limit: 1)).notices.first
        } encode: { server, notice in
            guard let notice, notice.number == parameters.number else {
                return .failure(RPCError(.notFound, "there is no notice \(parameters.number)", field: "number"))
            }
            return .success(server.bringForward(notice, activationToken: parameters.activationToken).json)
        }
    }

    private func bringForward(_ notice: Notice, activationToken: String?) -> OpenNoticeAnswer {
        let row = row(notice, locale: nil)
        let running = connections.values.filter { connection in
            connection.presence.map { $0.uid == notice.uid && $0.game == notice.game } ?? false
        }
        // The one that this player plays in front of, then any that can be told.
        let best = running.max { left, right in rank(left, notice) < rank(right, notice) }
        guard let best, let presence = best.presence else {
            return OpenNoticeAnswer(
                state: OpenNoticeAnswer.notRunning, isTold: false, start: settings.games[notice.game]?.start ?? [],
                notice: row)
        }
        guard presence.isSubscribedToNotices else {
            return OpenNoticeAnswer(
                state: presence.state.rawValue, isTold: false, start: settings.games[notice.game]?.start ?? [],
                notice: row)
        }
        let message = OpenMessage(notice: row, activationToken: activationToken)
        send(RPCAnswer.notification(method: OpenMessage.method, parameters: message.json), to: best)
        return OpenNoticeAnswer(state: presence.state.rawValue, isTold: true, start: [], notice: row)
    }

    private func rank(_ connection: Connection, _ notice: Notice) -> Int {
        guard let presence = connection.presence else { return 0 }
        let isOfPlayer = presence.player.map { $0.utf8.elementsEqual(notice.player.utf8) } ?? false
        return (presence.isSubscribedToNotices ? 4 : 0) + (isOfPlayer ? 2 : 0)
            + (presence.state == .foreground ? 1 : 0)
    }
}
