import KleosJSON
import KleosModel

/// What can be looked at, and the switch for the faults.
extension PracticeService {
    /// The answer of a page; nil where `request` is not for one, and so is a submission.
    mutating func page(_ request: HTTPRequest) -> HTTPAnswer? {
        let path = request.path
        if path == "/faults" { return faultsPage(request) }
        guard let content = content(path, request) else { return nil }
        guard request.method == "GET" || request.method == "HEAD" else {
            return .error(405, "method-not-allowed", "\(path) takes GET only", headers: [("Allow", "GET, HEAD")])
        }
        var answer = content
        answer.headers.append(("Cache-Control", "no-store"))
        return answer
    }

    private func content(_ path: String, _ request: HTTPRequest) -> HTTPAnswer? {
        switch path {
        case "/":
            return HTTPAnswer(
                status: 200,
                headers: [
                    ("Content-Type", "text/html; charset=utf-8"),
                    ("Content-Security-Policy", PracticePage.securityPolicy), ("X-Content-Type-Options", "nosniff"),
                ], body: PracticePage.bytes)
        case "/healthz": return .json(["status": "ok"])
        case "/boards": return .json(["boards": .array(boardList().map { Self.json($0, limit: 100) })])
        case "/achievements": return .json(["achievements": .array(achievementList().map(Self.json))])
        case "/requests":
            let limit = request.query("limit").flatMap { Int($0) } ?? 100
            return .json(["requests": .array(log.latest(limit).map(\.json))])
        case "/counts": return .json(counts)
        case "/state": return .json(state)
        default: break
        }
        guard path.hasPrefix("/boards/") else { return nil }
        let names = request.pathSegments?.dropFirst() ?? []
        guard names.count == 2, let game = names.first, let leaderboard = names.last,
            let board = store.boards[PracticeStore.BoardName(game: game, leaderboard: leaderboard)]
        else { return .error(404, "unknown-leaderboard", "no score came for this leaderboard") }
        return .json(Self.json(board, limit: .max))
    }

    private mutating func faultsPage(_ request: HTTPRequest) -> HTTPAnswer {
        switch request.method {
        case "GET", "HEAD": break
        case "DELETE": setFaults(Faults())
        case "POST":
            // A web page elsewhere can make a browser send a form or plain text here, but not JSON.
            guard request.header("content-type")?.lowercased().hasPrefix("application/json") == true else {
                return .error(415, "unsupported-media-type", "the body must be application/json")
            }
            do {
                var merged = faults.faults
                try merged.merge(JSONParser.parse(request.body))
                setFaults(merged)
            } catch {
                return .error(400, "invalid-faults", "\(error)")
            }
        default:
            return .error(
                405, "method-not-allowed", "/faults takes GET, POST and DELETE",
                headers: [("Allow", "GET, HEAD, POST, DELETE")])
        }
        return .json(faults.faults.json)
    }

    /// All boards, by game and name.
    func boardList() -> [Board] {
        store.boards.values.sorted { ($0.game, $0.leaderboard) < ($1.game, $1.leaderboard) }
    }

    /// All achievements that players have progress in, by game, player and name.
    func achievementList() -> [AchievementStanding] {
        store.achievements.values.sorted {
            ($0.game, $0.player, $0.achievement) < ($1.game, $1.player, $1.achievement)
        }
    }

    /// Everything that the page at `/` shows.
    var state: JSONValue {
        [
            "boards": .array(boardList().map { Self.json($0, limit: 10) }),
            "achievements": .array(achievementList().suffix(200).map(Self.json)),
            "requests": .array(log.latest(30).map(\.json)), "counts": counts, "faults": faults.faults.json,
        ]
    }

    /// Totals, with every key that did not take effect exactly once or came more than once by name (at most 100 each).
    var counts: JSONValue {
        let effects = store.keys.values.reduce(into: (all: 0, most: 0)) { result, record in
            result.all += record.effects
            result.most = max(result.most, record.effects)
        }
        var statuses = JSONObject()
        for (status, count) in log.answersByStatus.sorted(by: { $0.key < $1.key }) {
            statuses[String(status)] = .integer(count)
        }
        let repeated = log.requestsByKey.lazy.filter { $0.value > 1 }.prefix(100)
        var repeats = JSONObject()
        for (key, count) in repeated.sorted(by: { $0.key < $1.key }) { repeats[key] = .integer(count) }
        return [
            "requests": .integer(log.total), "keys": .integer(store.keys.count), "effects": .integer(effects.all),
            "mostEffectsOfOneKey": .integer(effects.most), "replays": .integer(log.replayCount),
            "unanswered": .integer(log.unansweredCount), "statuses": .object(statuses),
            "repeatedKeys": .object(repeats),
        ]
    }

    private static func json(_ board: Board, limit: Int) -> JSONValue {
        let entries = board.entries
        return [
            "game": .string(board.game), "leaderboard": .string(board.leaderboard),
            "order": .string(board.order.rawValue), "keep": .string(board.keep.rawValue),
            "accepted": .integer(board.acceptedCount), "entryCount": .integer(entries.count),
            "entries": .array(
                entries.prefix(limit).map {
                    ["rank": .integer($0.rank), "player": .string($0.player), "value": .string($0.value.description)]
                }),
        ]
    }

    private static func json(_ standing: AchievementStanding) -> JSONValue {
        [
            "game": .string(standing.game), "achievement": .string(standing.achievement),
            "player": .string(standing.player), "unlocked": .bool(standing.isUnlocked),
            "progress": .integer(standing.progress), "steps": .integer(standing.steps),
            "unlockedAt": standing.unlockedAtMilliseconds.map { .string(Timestamp.text(milliseconds: $0)) } ?? .null,
            "accepted": .integer(standing.acceptedCount),
        ]
    }
}
