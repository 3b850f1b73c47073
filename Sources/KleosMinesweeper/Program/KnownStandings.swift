import KleosClient

extension PlayerRecord {
    /// Takes over what kleos knows of the player, whether confirmed or on its way.
    mutating func learn(_ standings: [KleosStanding]) {
        for standing in standings {
            for mark in [standing.confirmed, standing.pending].compactMap({ $0 }) {
                if let id = standing.achievement.flatMap(AchievementID.init) {
                    learn(id, progress: mark.progress, steps: mark.steps)
                }
                if let level = standing.leaderboard.flatMap(Level.init), let time = mark.value.flatMap({ Int64($0) }) {
                    learn(level, milliseconds: time)
                }
            }
        }
    }
}
