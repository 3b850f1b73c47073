import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Synchronization

let testGame = Game(
    id: "g", endpoints: ["home"],
    leaderboards: [
        Leaderboard(id: "b"), Leaderboard(id: "all", keep: .every), Leaderboard(id: "money", decimals: 2),
    ], achievements: [Achievement(id: "a"), Achievement(id: "walk", steps: 100)])

/// Makes events, each with a key of its own.
final class EventMaker: Sendable {
    let clock: ManualClock
    private let random = Mutex(SeededGenerator(seed: 1))

    init(_ clock: ManualClock) { self.clock = clock }

    func event(_ subject: Subject, player: String = "p", metadata: String? = nil) -> Event {
        let key = random.withLock { EventKey.version7(wallMilliseconds: clock.nowMilliseconds, random: &$0) }
        return Event(
            key: key, clientID: nil, game: "g", player: player, subject: subject, occurredAtMilliseconds: nil,
            metadata: metadata.map { Array($0.utf8) }, recorded: clock.read(),
            submitter: Submitter(uid: 1000, pid: 1))
    }

    func score(_ value: Int64, board: String = "b", player: String = "p") -> Event {
        event(.score(leaderboard: board, value: ScoreValue(units: value)), player: player)
    }
}

func stream(_ item: String, player: String = "p", endpoint: String = "home") -> StreamKey {
    StreamKey(endpoint: endpoint, game: "g", player: player, kind: .score, item: item)
}

/// Who a transport of a test tells of ends.
final class EndHandler: Sendable {
    private let handler = Mutex<(@Sendable ([TransportEnd]) -> Void)?>(nil)

    func set(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) { self.handler.withLock { $0 = handler } }

    func callAsFunction(_ request: TransportRequest, _ result: TransportResult) {
        handler.withLock { $0 }?([TransportEnd(number: request.number, result)])
    }
}

func answer(_ status: Int, _ body: String = "", retryAfter: String? = nil, location: String? = nil) -> TransportResult {
    TransportResult(
        answer: .success(
            TransportAnswer(status: status, body: Array(body.utf8), retryAfter: retryAfter, location: location)),
        didSendRequest: true, durationMilliseconds: 5)
}

func failure(_ kind: TransportFailure.Kind, didSend: Bool = false) -> TransportResult {
    TransportResult(
        answer: .failure(TransportFailure(kind, "no luck")), didSendRequest: didSend, durationMilliseconds: 5)
}

let accepted = #"{"accepted": true}"#
let contractError = #"{"error": {"code": "invalid-value", "message": "no"}}"#
