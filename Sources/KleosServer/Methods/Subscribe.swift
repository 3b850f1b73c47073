import Dispatch
import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

// subscribe and presence: what belongs to a connection and ends with it; and the pushes.

extension Server {
    func subscribe(_ parameters: SubscribeParameters, _ token: ReplyToken, _ connection: Connection) {
        connection.subscription = Subscription(
            topics: Set(parameters.topics), game: parameters.game, player: parameters.player,
            uid: connection.visibleUID)
        if parameters.topics.isEmpty {
            subscribers.remove(connection.id)
        } else {
            subscribers.insert(connection.id)
        }
        let before = connection.presence
        connection.presence?.isSubscribedToNotices = parameters.topics.contains(.notices)
        presenceChanged(from: before, to: connection.presence)
        reply(token, .success(["topics": .array(parameters.topics.map { .string($0.rawValue) })]))
    }

    func presence(_ parameters: PresenceParameters, _ token: ReplyToken, _ connection: Connection) throws(RPCError) {
        let game = try submissibleGame(parameters.game, for: connection)
        let before = connection.presence
        connection.presence = Presence(
            uid: connection.peer.uid, game: game.id, player: parameters.player ?? game.player,
            state: parameters.state,
            isSubscribedToNotices: connection.subscription?.topics.contains(.notices) ?? false)
        reply(token, .success(["state": .string(parameters.state.rawValue)]))
        presenceChanged(from: before, to: connection.presence)
    }

    /// Tells subscribers what a COMMIT changed.
    func push(_ changes: OutboxChanges) {
        guard !subscribers.isEmpty else { return }
        for change in changes.deliveries {
            push(.deliveries, Self.json(change)) {
                $1.covers(uid: change.uid, game: change.game, player: change.player)
            }
        }
        for notice in changes.notices + changes.returnedNotices { push(notice) }
    }

    private func push(_ notice: Notice) {
        let isShownByGame = presences.contains {
            $0.shows(uid: notice.uid, game: notice.game, player: notice.player)
        }
        guard isShownByGame else {
            let waits = waitsForItsPlayer(notice)
            return push(notice) { !waits || $0.presence != nil || $0.role == .control }
        }
        // Other routes are told when the game has had its time: what it has not shown by then is theirs.
        push(notice) { $0.presence != nil || $0.role == .control }
        let tellOthers: @Sendable () -> Void = { [weak self] in
            self?.assumeIsolated { $0.push(notice) { $0.presence == nil && $0.role == .submit } }
        }
        let share = DispatchTimeInterval.milliseconds(Int(Self.gameShareMilliseconds))
        executor.queue.asyncAfter(deadline: .now() + share, execute: tellOthers)
    }

    func push(_ notice: Notice, to isMeant: (Connection) -> Bool) {
        push(.notices, row(notice, locale: nil).json) {
            $1.covers(uid: notice.uid, game: notice.game, player: notice.player) && isMeant($0)
        }
    }

    func push(_ condition: EndpointCondition) {
        guard !subscribers.isEmpty else { return }
        push(.endpoints, Self.json(condition)) { connection, _ in self.isOperator(connection.peer) }
        push(.endpoints, Self.json(condition.withoutWords)) { connection, _ in !self.isOperator(connection.peer) }
    }

    private static func json(_ condition: EndpointCondition) -> JSONValue {
        var object = EndpointRow(condition, counters: nil).json.objectValue ?? JSONObject()
        // Counts are not known here, and zeros would be a lie.
        object["undelivered"] = nil
        object["dead"] = nil
        return .object(object)
    }

    private func push(
        _ topic: Topic, _ parameters: @autoclosure () -> JSONValue, where covers: (Connection, Subscription) -> Bool
    ) {
        var line: [UInt8]?
        for id in subscribers {
            guard let connection = connections[id], let subscription = connection.subscription,
                subscription.topics.contains(topic), covers(connection, subscription)
            else { continue }
            let bytes = line ?? RPCAnswer.notification(method: topic.notificationMethod, parameters: parameters())
            line = bytes
            send(bytes, to: connection)
        }
    }

    private static func json(_ change: DeliveryChange) -> JSONValue {
        var object = JSONObject()
        object["key"] = .string(change.key.description)
        object["endpoint"] = .string(change.endpoint)
        object["game"] = .string(change.game)
        object["player"] = .string(change.player)
        object["from"] = change.from.map { .string($0.rawValue) }
        object["state"] = .string(change.to.rawValue)
        object["reason"] = change.reason.map { .string($0.rawValue) }
        return .object(object)
    }
}
