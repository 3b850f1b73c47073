import KleosClient
package import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// `kleos watch`.
enum WatchCommand {
    static let specification = CommandSpecification(
        ["watch"], "Follow deliveries and endpoints as they change",
        options: [
            OptionSpecification("game", "GAME", "Only this game's deliveries."),
            OptionSpecification("player", "PLAYER", "Only this player's deliveries."),
            OptionSpecification("until-empty", nil, "Stop as soon as nothing of this is on its way any more."),
            OptionSpecification("timeout", "SECONDS", "Stop after so long; with --until-empty that is a failure (75)."),
            OptionSpecification("quiet", nil, "Print nothing but the end."),
        ],
        examples: [
            CommandExample(
                "kleos watch --until-empty --timeout 60", "Wait at most a minute for everything to be delivered."),
            CommandExample("kleos watch --until-empty --game tetris --quiet", "Wait for what one game earned."),
        ],
        run: { invocation, session throws(CommandFailure) in
            let watch = Watch(invocation, session, seconds: try invocation.number("timeout", in: 1...31_536_000))
            return try watch.run()
        })
}

/// One run of the command.
private struct Watch {
    private let session: Session
    private let endsWhenEmpty: Bool
    private let isQuiet: Bool
    private let deadlineMilliseconds: Int64?
    private let topics: SubscribeParameters

    /// What is waited for where that is less than the whole queue.
    private var part: DeliveryCriteria? {
        guard topics.game != nil || topics.player != nil else { return nil }
        return DeliveryCriteria(states: Self.onTheirWay, game: topics.game, player: topics.player)
    }

    /// What is held needs somebody to release it, so that waiting for it would be in vain.
    private static let onTheirWay: [DeliveryState] = [.waiting, .ready, .sending]

    /// How long a quiet daemon is believed to have nothing new: notices of changes may be lost with a slow reader.
    private static let checkMilliseconds: Int64 = 1_000

    init(_ invocation: Invocation, _ session: Session, seconds: Int64?) {
        self.session = session
        endsWhenEmpty = invocation.has("until-empty")
        isQuiet = invocation.has("quiet")
        deadlineMilliseconds = seconds.map { session.clock.read().monotonicMilliseconds + $0 * 1_000 }
        topics = SubscribeParameters(
            topics: [.deliveries, .endpoints], game: invocation.value("game"), player: invocation.value("player"))
    }

    func run() throws(CommandFailure) -> ExitCode {
        _ = try session.request(.subscribe, topics.parameters, on: session.readingSocket())
        while true {
            if endsWhenEmpty, let end = try finished() { return end }
            guard let wait = remaining() else {
                guard endsWhenEmpty else { return .success }
                throw CommandFailure(
                    .temporary, "the time is up and \(try undelivered())",
                    hint: "kleos status says which endpoint holds them up")
            }
            let limit = endsWhenEmpty ? min(wait, Self.checkMilliseconds) : wait
            let first = try session.nextNotification(
                on: session.readingSocket(), timeoutMilliseconds: limit == .max ? nil : limit)
            if let first {
                print(first.method, first.parameters)
                for next in try session.connection(session.readingSocket()).takeNotifications() {
                    print(next.method, next.parameters)
                }
            }
        }
    }

    /// Time left; nil where it is up.
    private func remaining() -> Int64? {
        guard let deadlineMilliseconds else { return .max }
        let left = deadlineMilliseconds - session.clock.read().monotonicMilliseconds
        return left > 0 ? left : nil
    }

    private func finished() throws(CommandFailure) -> ExitCode? {
        guard let part else {
            let status = StatusAnswer(json: try session.request(.status))
            guard Self.count(status) == 0 else { return nil }
            if !session.isJSON { session.line(DeliveryWords.summary(status.counts)) }
            return .success
        }
        guard try count(part, limit: 1) == 0 else { return nil }
        let words = [part.player, part.game].compactMap { $0.map(Printable.text) }.joined(separator: " in ")
        if !session.isJSON { session.line("nothing of \(words) is on its way") }
        return .success
    }

    private func undelivered() throws(CommandFailure) -> String {
        let count =
            if let part { try count(part) } else { Self.count(StatusAnswer(json: try session.request(.status))) }
        return Counted.text(count, "delivery is still on its way", "deliveries are still on their way")
    }

    private static func count(_ status: StatusAnswer) -> Int {
        onTheirWay.reduce(0) { $0 + (status.counts[$1] ?? 0) }
    }

    private func count(_ part: DeliveryCriteria, limit: Int = .max) throws(CommandFailure) -> Int {
        var parameters = ListParameters(criteria: part, limit: min(limit, ListParameters.maximumLimit))
        var count = 0
        repeat {
            let result = try session.request(.list, parameters.parameters, on: session.readingSocket())
            count += result["deliveries"]?.arrayValue?.count ?? 0
            parameters.cursor = result["cursor"]?.stringValue
        } while parameters.cursor != nil && count < limit
        return count
    }

    private func print(_ method: String, _ parameters: JSONValue) {
        if isQuiet { return }
        if session.isJSON { return session.json(["method": .string(method), "params": parameters]) }
        let time = Timestamp.text(milliseconds: session.nowMilliseconds).dropFirst(11).prefix(8)
        session.line("\(time)  \(WatchWords.text(parameters, palette: session.palette))")
    }
}

/// Changes as people read them. Pure.
package enum WatchWords {
    /// One change of a delivery or an endpoint, by its members.
    package static func text(_ change: JSONValue, palette: Palette) -> String {
        if let condition = change["condition"]?.stringValue { return endpoint(change, condition, palette) }
        guard let state = (change["state"] ?? change["to"])?.stringValue else {
            return Printable.text(change.serialized)
        }
        let key = change["key"]?.stringValue.map { String($0.suffix(8)) } ?? ""
        let style = DeliveryState(rawValue: state).flatMap(DeliveryWords.style)
        var parts = [Printable.text(key), palette.apply(style, to: Printable.text(state))]
        if let reason = change["reason"]?.stringValue { parts.append("(\(Printable.text(reason)))") }
        if let subject = SubjectFields(json: change) { parts.append(Printable.text(DeliveryWords.what(subject))) }
        for name in ["game", "player"] {
            if let text = change[name]?.stringValue { parts.append(Printable.text(text)) }
        }
        if let endpoint = change["endpoint"]?.stringValue { parts.append("→ \(Printable.text(endpoint))") }
        return parts.joined(separator: "  ")
    }

    private static func endpoint(_ change: JSONValue, _ condition: String, _ palette: Palette) -> String {
        let name = (change["name"] ?? change["endpoint"])?.stringValue ?? ""
        let style: Style = condition == "up" ? .good : condition == "paused" ? .warning : .bad
        let why = (change["reason"] ?? change["lastError"])?.stringValue.map { ": \($0)" } ?? ""
        return Printable.text("endpoint \(name) is ") + palette.apply(style, to: Printable.text(condition))
            + Printable.text(why)
    }
}
