import KleosModel

/// How far a player is on one leaderboard or achievement at one endpoint.
public struct KleosStanding: Sendable, Equatable {
    /// A best or a progress, and its rank where the endpoint told it.
    public struct Mark: Sendable, Equatable {
        /// A score, in plain decimal form.
        public let value: String?
        /// Percent, 0 … 100.
        public let progress: Int?
        /// Steps of a counted achievement.
        public let steps: Int64?
        /// Counts from 1.
        public let rank: Int64?

        init(_ mark: StandingMark) {
            var value: String?
            var progress: Int?
            var steps: Int64?
            switch mark.measure {
            case .value(let score): value = score.description
            case .progress(let percent): progress = percent
            case .steps(let count): steps = count
            }
            self.value = value
            self.progress = progress
            self.steps = steps
            rank = mark.rank
        }
    }

    /// The endpoint's name.
    public let endpoint: String
    /// The player.
    public let player: String
    /// The leaderboard, where it is one.
    public let leaderboard: String?
    /// The achievement, where it is one.
    public let achievement: String?
    /// What the endpoint confirmed.
    public let confirmed: Mark?
    /// What is on its way.
    public let pending: Mark?

    init(_ standing: Standing) {
        endpoint = standing.stream.endpoint
        player = standing.stream.player
        leaderboard = standing.stream.kind == .score ? standing.stream.item : nil
        achievement = standing.stream.kind == .achievement ? standing.stream.item : nil
        confirmed = standing.confirmed.map(Mark.init)
        pending = standing.pending.map(Mark.init)
    }
}
