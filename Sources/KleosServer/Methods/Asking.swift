import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

// hello, list, show, standing: what a client asks about itself and its events.

extension Server {
    func hello(_ token: ReplyToken, _ connection: Connection) {
        reply(token, .success(HelloAnswer(socket: connection.role.rawValue, uid: connection.peer.uid).json))
    }

    func list(_ parameters: ListParameters, _ token: ReplyToken, _ connection: Connection) {
        let filter = DeliveryFilter(parameters.criteria)
        let uid = connection.visibleUID
        store.perform(lane: connection.lane) { outbox throws(StoreError) in
            try outbox.list(filter, visibleTo: uid, cursor: parameters.cursor, limit: parameters.limit)
        } then: { [self] result in
            self.async { server in
                switch result {
                case .success(let page): server.answer(page, to: parameters, token)
                case .failure(let error): server.reply(token, .failure(server.failure(error)))
                }
            }
        }
    }

    private func answer(_ page: DeliveryPage, to parameters: ListParameters, _ token: ReplyToken) {
        let answer = ListAnswer(rows: page.deliveries.map(row), cursor: page.cursor).json
        // Rows of unusual length: fewer of them make an answer that fits, and the cursor leads to the rest.
        if parameters.limit > 1, answer.serializedBytes.count > Limits.answerBytes - 1_024,
            let connection = connections[token.connection]
        {
            var smaller = parameters
            smaller.limit = parameters.limit / 2
            return list(smaller, token, connection)
        }
        reply(token, .success(answer))
    }

    func show(_ parameters: ShowParameters, _ token: ReplyToken, _ connection: Connection) {
        let uid = connection.visibleUID
        let own = connection.peer.uid
        ask(token) { outbox throws(StoreError) in
            switch parameters {
            case .key(let key): try outbox.show(key: key, visibleTo: uid)
            case .clientID(let id, let game): try outbox.show(clientID: id, game: game, uid: own)
            }
        } encode: { server, record in
            guard let record else {
                // The same answer for what does not exist and for what is another user's.
                return .failure(RPCError(.notFound, "you have no such event", field: "key"))
            }
            let deliveries = record.deliveries.map {
                DeliveryDetail(
                    row: server.row($0.record), attempts: $0.attempts, confirmation: $0.record.confirmation,
                    message: $0.record.message)
            }
            return .success(
                ShowAnswer(event: record.event, deliveries: deliveries, game: server.settings.games[record.event.game])
                    .json)
        }
    }

    /// A delivery with its score as people read it.
    private func row(_ record: DeliveryRecord) -> DeliveryRow {
        DeliveryRow(record, game: settings.games[record.game])
    }

    func standing(_ parameters: StandingParameters, _ token: ReplyToken, _ connection: Connection) throws(RPCError) {
        guard parameters.leaderboard == nil || parameters.achievement == nil else {
            throw RPCError(.invalidParameter, "give leaderboard or achievement, not both", field: "achievement")
        }
        let player: String?
        if connection.role == .control {
            player = parameters.player
        } else {
            let game = try submissibleGame(parameters.game, for: connection)
            player = parameters.player ?? game.player
            if let allowed = game.allowedPlayers, let player, !ExactText.contains(allowed, player) {
                throw RPCError(
                    .playerNotAllowed, "the game accepts only the players that its file names", field: "player")
            }
        }
        let kind: SubjectKind? =
            parameters.leaderboard != nil ? .score : parameters.achievement != nil ? .achievement : nil
        let query = StandingQuery(
            game: parameters.game, player: player, endpoint: parameters.endpoint, kind: kind,
            item: parameters.leaderboard ?? parameters.achievement)
        gather(token, limit: query.limit) { outbox, after, limit throws(StoreError) in
            var turn = query
            turn.limit = limit
            let page = try outbox.standings(turn, after: after)
            return (page.standings, page.next)
        } encode: { server, standings in
            let leaderboards = server.settings.games[parameters.game]?.leaderboards ?? [:]
            return .success(StandingAnswer(standings: standings).json(leaderboards: leaderboards))
        }
    }
}

extension DeliveryFilter {
    /// The deliveries that a client's criteria mean.
    init(_ criteria: DeliveryCriteria) {
        self.init(
            states: Set(criteria.states), endpoint: criteria.endpoint, game: criteria.game, player: criteria.player,
            kind: criteria.kind, text: criteria.text)
    }
}

extension DeliveryRow {
    /// A delivery as it is listed.
    init(_ record: DeliveryRecord, game: Game?) {
        self.init(
            key: record.key, clientID: record.clientID, endpoint: record.endpoint, state: record.state,
            reason: record.reason?.rawValue, game: record.game, player: record.player,
            subject: SubjectFields(record.subject, game: game), recordedAtMilliseconds: record.createdMilliseconds,
            attempts: record.attempts, nextAttemptAtMilliseconds: record.dueMilliseconds,
            settledAtMilliseconds: record.settledMilliseconds, supersededBy: record.supersededBy)
    }
}
