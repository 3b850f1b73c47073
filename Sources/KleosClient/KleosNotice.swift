import KleosModel
import KleosWire

/// Something to tell the player: a confirmed score or an unlocked achievement.
public struct KleosNotice: Sendable, Equatable {
    /// Grows with each notice.
    public let number: Int64
    /// The event that it is about.
    public let key: String
    /// The player.
    public let player: String
    /// The leaderboard, where it is about a score.
    public let leaderboard: String?
    /// The achievement, where it is about one.
    public let achievement: String?
    /// Counts from 1, where the endpoint told it.
    public let rank: Int64?
    /// A line for the player.
    public let title: String
    /// More lines for the player; may be empty.
    public let body: String

    init(_ row: NoticeRow) {
        number = row.number
        key = row.key.description
        player = row.player
        leaderboard = row.kind == .score ? row.item : nil
        achievement = row.kind == .achievement ? row.item : nil
        rank = row.rank
        title = row.title
        body = row.body
    }
}
