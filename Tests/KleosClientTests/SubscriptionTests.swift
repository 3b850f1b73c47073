import KleosClient
import KleosJSON
import KleosModel
import KleosWire
import Testing

/// What a client asks to be told, and is.
@Suite("Client: subscriptions", .timeLimit(.minutes(30)))
struct SubscriptionTests {
    let daemon: HandDaemon
    let client: KleosClient

    init() throws {
        daemon = try HandDaemon()
        client = KleosClient(game: "minesweeper", player: "ada", socketPath: daemon.path)
    }

    @Test func tellsWhichDaemonAnswers() throws {
        let answers = Collector<Result<KleosDaemonInfo, KleosError>>()
        client.connect { answers.add($0) }
        let talk = try daemon.accept()
        let request = try talk.next()
        #expect(request.method == "hello")
        try talk.answer(request, HelloAnswer(socket: "submit", uid: 1).json)
        let info = try #require(answers.wait(for: 1).first).get()
        #expect(info.version == ProtocolVersion.program)
        #expect(info.protocolVersion == ProtocolVersion.number)
        #expect(info.features == ProtocolVersion.features)
    }

    @Test func tellsOfDeliveriesOverReconnects() throws {
        let steps = Collector<KleosDelivery>()
        client.onDelivery { steps.add($0) }
        var parameters = JSONObject()
        parameters["key"] = "k"
        parameters["endpoint"] = "home"
        parameters["game"] = "minesweeper"
        parameters["player"] = "ada"
        for (state, reason) in [("delivered", nil), ("dead", "rejected"), ("unheard-of", nil)] as [(String, String?)] {
            parameters["state"] = .string(state)
            parameters["reason"] = reason.map(JSONValue.string)
            let talk = try daemon.accept()
            let request = try talk.next()
            #expect(request.method == "subscribe")
            let subscription = try SubscribeParameters(request)
            #expect(subscription.topics == [.deliveries] && subscription.game == "minesweeper")
            try talk.answer(request, [:])
            let count = steps.all.count
            try talk.write(RPCAnswer.notification(method: "delivery", parameters: .object(parameters)))
            #expect(steps.wait(for: count + 1).count == count + 1)
            talk.hangUp()
        }
        #expect(steps.all.map(\.state) == [.delivered, .dead, nil])
        #expect(steps.all.map(\.reason) == [nil, "rejected", nil])
        #expect(steps.all.allSatisfy { $0.key == "k" && $0.endpoint == "home" && $0.player == "ada" })
    }

    @Test func bothSubscriptionsGoInOne() throws {
        client.onNotice { _ in }
        client.onDelivery { _ in }
        let talk = try daemon.accept()
        var topics: [Topic] = []
        while Set(topics) != [.notices, .deliveries] {
            let request = try talk.next()
            if request.method == "subscribe" { topics = try SubscribeParameters(request).topics }
        }
        client.close()
    }
}
