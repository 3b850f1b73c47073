import KleosJSON
import KleosModel

/// What the service holds: boards, achievements, and the answer to each key.
struct PracticeStore {
    struct BoardName: Hashable {
        let game: String
        let leaderboard: String
    }

    struct AchievementName: Hashable {
        let game: String
        let achievement: String
        let player: ExactKey
    }

    /// What is known about one key.
    struct KeyRecord {
        var fingerprint: UInt64
        var answer: [UInt8]
        var effects = 0
    }

    private(set) var boards: [BoardName: Board] = [:]
    private(set) var achievements: [AchievementName: AchievementStanding] = [:]
    private(set) var keys: [String: KeyRecord] = [:]

    /// Lets a submission take effect and keeps the answer under its key. Throws `Rejection`; then nothing changed.
    mutating func accept(_ submission: Submission, fingerprint: UInt64) throws(Rejection) -> [UInt8] {
        let answer: JSONValue
        switch submission.content {
        case .score(let leaderboard, let value, let order, let keep):
            answer = try addScore(
                submission, BoardName(game: submission.game, leaderboard: leaderboard), value, order, keep)
        case .achievement(let id, let change, let goal):
            answer = try addAchievement(submission, id, change, goal)
        }
        let bytes = answer.serializedBytes
        keys[submission.key, default: KeyRecord(fingerprint: fingerprint, answer: bytes)].effects += 1
        return bytes
    }

    private mutating func addScore(
        _ submission: Submission, _ name: BoardName, _ value: ScoreValue, _ order: SortOrder, _ keep: KeepRule
    ) throws(Rejection) -> JSONValue {
        let isKnown = boards[name].map { $0.order == order && $0.keep == keep } ?? true
        guard isKnown else {
            throw Rejection(422, "rules-differ", "the leaderboard exists with another \"order\" or \"keep\"")
        }
        let empty = Board(game: name.game, leaderboard: name.leaderboard, order: order, keep: keep)
        let effect = try boards[name, default: empty].add(value, player: submission.player)
        return [
            "accepted": true, "rank": .integer(effect.rank), "best": .string(effect.best.description),
            "improved": .bool(effect.improved),
        ]
    }

    private mutating func addAchievement(
        _ submission: Submission, _ id: String, _ change: AchievementChange, _ goal: Int64?
    ) throws(Rejection) -> JSONValue {
        let name = AchievementName(game: submission.game, achievement: id, player: ExactKey(submission.player))
        var standing =
            achievements[name]
            ?? AchievementStanding(game: submission.game, achievement: id, player: submission.player)
        let isNew = try standing.apply(change, of: goal, happenedMilliseconds: submission.happenedMilliseconds)
        achievements[name] = standing
        var answer: JSONObject = JSONObject()
        answer["accepted"] = true
        answer["unlocked"] = .bool(standing.isUnlocked)
        answer["new"] = .bool(isNew)
        answer["progress"] = .integer(standing.progress)
        if standing.steps > 0 { answer["steps"] = .integer(standing.steps) }
        return .object(answer)
    }

    /// Identifies a request's content: the same path and body give the same number, in every run (FNV-1a).
    static func fingerprint(path: String, body: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        path.utf8.forEach(add)
        add(0)
        body.forEach(add)
        return hash
    }
}
