import KleosModel

/// The ways that the event before took: most are followed by another of the same leaderboard, which shares them.
struct RecentWays {
    private var game = ""
    private var subject: Subject?
    private var ways: [FanOut] = []

    /// The deliveries that an event about `subject` fans out to; the settings must be those of the call before.
    mutating func fanOut(of subject: Subject, in game: Game, endpoints: [String: Endpoint]) -> [FanOut] {
        if let last = self.subject, Self.areAlike(last, subject), ExactText.same(self.game, game.id) { return ways }
        self.game = game.id
        self.subject = subject
        ways = SubmissionRules.fanOut(subject, in: game, endpoints: endpoints)
        return ways
    }

    /// Whether both go the same ways: how high a score is, or how far an achievement, makes no difference.
    private static func areAlike(_ left: Subject, _ right: Subject) -> Bool {
        switch (left, right) {
        case (.score(let left, _), .score(let right, _)): ExactText.same(left, right)
        default: left == right
        }
    }
}
