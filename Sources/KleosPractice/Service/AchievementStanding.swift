import KleosModel

/// How far a player came with an achievement.
package struct AchievementStanding: Sendable, Equatable {
    package let game: String
    package let achievement: String
    package let player: String
    /// 0 … 100; never goes back.
    package private(set) var progress = 0
    /// Steps so far; 0 where the achievement is not counted in steps.
    package private(set) var steps: Int64 = 0
    /// When the event that unlocked it happened, in Unix milliseconds; nil while it is locked or the time is unknown.
    package private(set) var unlockedAtMilliseconds: Int64?
    /// How many events took effect here.
    package private(set) var acceptedCount = 0

    /// Whether it is unlocked.
    package var isUnlocked: Bool { progress == 100 }

    /// Makes a standing without progress.
    init(game: String, achievement: String, player: String) {
        self.game = game
        self.achievement = achievement
        self.player = player
    }

    /// Lets an event take effect; true where this unlocked it. Throws `Rejection` where the steps leave 64 bits.
    mutating func apply(
        _ change: AchievementChange, of goal: Int64?, happenedMilliseconds: Int64?
    ) throws(Rejection) -> Bool {
        let wasUnlocked = isUnlocked
        switch change {
        case .progress(let percent): progress = max(progress, percent)
        case .steps(let count): steps = max(steps, count)
        case .increment(let count):
            let (sum, overflowed) = steps.addingReportingOverflow(count)
            guard !overflowed else { throw Rejection(422, "out-of-range", "the steps leave 64 bits") }
            steps = sum
        }
        if let goal, goal > 0 {
            let percent = min(steps, goal).multipliedFullWidth(by: 100)
            progress = max(progress, Int(goal.dividingFullWidth(percent).quotient))
        }
        acceptedCount += 1
        guard isUnlocked, !wasUnlocked else { return false }
        unlockedAtMilliseconds = happenedMilliseconds
        return true
    }
}
