/// What an event is about: a score on a leaderboard, or a step towards an achievement.
package enum Subject: Hashable, Sendable {
    case score(leaderboard: String, value: ScoreValue)
    case achievement(id: String, change: AchievementChange)

    /// The kind's name in protocol and storage.
    package var kind: SubjectKind {
        switch self {
        case .score: .score
        case .achievement: .achievement
        }
    }

    /// The leaderboard's or achievement's id.
    package var item: String {
        switch self {
        case .score(let leaderboard, _): leaderboard
        case .achievement(let id, _): id
        }
    }
}

/// The two kinds of event.
package enum SubjectKind: String, Sendable, CaseIterable {
    case score
    case achievement
}

/// How far an achievement came.
package enum AchievementChange: Hashable, Sendable {
    /// Reached so many percent, 0 … 100; 100 unlocks it.
    case progress(Int)
    /// Reached so many of its steps, counted from the start.
    case steps(Int64)
    /// So many more steps; never merged, never repeated without the service's own duplicate check.
    case increment(Int64)
}
