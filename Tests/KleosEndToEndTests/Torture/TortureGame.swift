import KleosModel
import KleosSupport

/// The game of the kill torture: a board of each kind, and achievements of each kind.
enum TortureGame {
    static let id = "arcade"

    /// The game's file; `section` goes into its first section.
    static func file(_ section: String) -> String {
        """
        [Game]
        Title=Arcade
        Notices=all
        \(section)

        [Leaderboard race]
        Order=ascending
        Keep=best

        [Leaderboard points]
        Keep=best

        [Leaderboard runs]
        Keep=every

        [Leaderboard total]
        Keep=sum

        [Leaderboard latest]
        Keep=latest

        [Achievement climber]

        [Achievement walker]
        Steps=100

        [Achievement collector]
        Steps=100

        [Achievement winner]

        """
    }

    /// Boards on which each event counts by itself, whatever else came.
    static let cumulativeItems: Set<String> = ["runs", "total", "collector"]

    /// The boards that keep the best, the sample game's among them, with whether lower is better.
    static let bestBoards = ["race": true, "points": false, "beginner": true]

    /// Draws an event of `player`. `tag` is its client's id, and travels to the endpoint in its metadata.
    static func draw(player: String, tag: String, using random: inout SeededGenerator) -> Submission {
        var event = Submission(kind: .score, game: id, player: player)
        event.clientID = tag
        event.metadata = Array("{\"tag\":\"\(tag)\"}".utf8)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6:
            let boards = ["race", "points", "runs", "total", "latest"]
            event.leaderboard = boards.randomElement(using: &random)
            event.value = String(Int64.random(in: 1...1_000_000, using: &random))
        case 6:
            event.kind = .achievement
            event.achievement = "climber"
            event.progress = Int64.random(in: 1...100, using: &random)
        case 7:
            event.kind = .achievement
            event.achievement = "walker"
            event.steps = Int64.random(in: 1...120, using: &random)
        case 8:
            event.kind = .achievement
            event.achievement = "collector"
            event.increment = Int64.random(in: 1...9, using: &random)
        default:
            event.kind = .achievement
            event.achievement = "winner"
            event.progress = 100
            // Enough players that most unlock it, and some get it from two clients at once.
            event.player = "guest-\(Int.random(in: 1...40, using: &random))"
        }
        return event
    }
}
