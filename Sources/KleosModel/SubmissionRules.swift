/// Checks a submission against the catalog and decides how its event fans out. Pure.
package enum SubmissionRules {
    /// The player and subject that `submission` names in `game`. Throws `Rejection`.
    package static func resolve(
        _ submission: Submission, in game: Game
    ) throws(Rejection) -> (player: String, subject: Subject) {
        try checkText(submission.clientID, field: "id", maximumBytes: Limits.clientIDBytes)
        if let metadata = submission.metadata, metadata.count > Limits.metadataBytes {
            throw Rejection(
                .tooLarge, field: "metadata",
                "metadata has \(metadata.count) bytes; at most \(Limits.metadataBytes) are kept")
        }
        let player = try player(of: submission, in: game)
        switch submission.kind {
        case .score: return (player, try score(submission, in: game))
        case .achievement: return (player, try achievement(submission, in: game))
        }
    }

    private static func player(of submission: Submission, in game: Game) throws(Rejection) -> String {
        guard let player = submission.player ?? game.player else {
            throw Rejection(
                .playerRequired, field: "player",
                "name the player, or set Player= in the file of the game \(game.id)")
        }
        try checkText(player, field: "player", maximumBytes: Limits.playerBytes)
        if let allowed = game.allowedPlayers, !ExactText.contains(allowed, player) {
            throw Rejection(
                .playerNotAllowed, field: "player", "the game \(game.id) accepts only the players that its file names")
        }
        return player
    }

    private static func checkText(_ text: String?, field: String, maximumBytes: Int) throws(Rejection) {
        guard let text else { return }
        guard !text.isEmpty, !ExactText.hasNUL(text) else {
            throw Rejection(
                .invalidParameter, field: field, "\(field) must not be empty and must hold no NUL character")
        }
        guard text.utf8.count <= maximumBytes else {
            throw Rejection(
                .tooLarge, field: field, "\(field) has \(text.utf8.count) bytes; at most \(maximumBytes) are allowed")
        }
    }

    private static func score(_ submission: Submission, in game: Game) throws(Rejection) -> Subject {
        try refuse(submission.achievement != nil, "achievement", kind: .score)
        try refuse(submission.progress != nil, "progress", kind: .score)
        try refuse(submission.steps != nil, "steps", kind: .score)
        try refuse(submission.increment != nil, "increment", kind: .score)
        guard let id = submission.leaderboard else {
            throw Rejection(.invalidParameter, field: "leaderboard", "a score needs the leaderboard that it is for")
        }
        guard let board = game.leaderboards[id] else {
            throw Rejection(
                .unknownLeaderboard, field: "leaderboard",
                "the game \(game.id) has no leaderboard \(id)\(nearest(id, in: game.leaderboards.keys)); add a section [Leaderboard \(id)] to its file or correct the name"
            )
        }
        guard let text = submission.value else {
            throw Rejection(.invalidParameter, field: "value", "a score needs a value")
        }
        let value = try parse(text, for: board)
        if let minimum = board.minimum, value < minimum {
            throw Rejection(.invalidValue, field: "value", "\(value) is below the least value of \(id), \(minimum)")
        }
        if let maximum = board.maximum, value > maximum {
            throw Rejection(.invalidValue, field: "value", "\(value) is above the greatest value of \(id), \(maximum)")
        }
        return .score(leaderboard: id, value: value)
    }

    private static func parse(_ text: String, for board: Leaderboard) throws(Rejection) -> ScoreValue {
        do {
            return try ScoreValue(text: text, decimals: board.decimals)
        } catch {
            let message =
                switch error {
                case .notANumber: "value must be a number"
                case .tooManyDecimals where board.decimals == 0:
                    "the leaderboard \(board.id) takes whole numbers; set Decimals= in its section to allow fractions"
                case .tooManyDecimals: "the leaderboard \(board.id) takes at most \(board.decimals) decimals"
                case .outOfRange: "value does not fit in 64 bits"
                }
            throw Rejection(.invalidValue, field: "value", message)
        }
    }

    private static func achievement(_ submission: Submission, in game: Game) throws(Rejection) -> Subject {
        try refuse(submission.leaderboard != nil, "leaderboard", kind: .achievement)
        try refuse(submission.value != nil, "value", kind: .achievement)
        guard let id = submission.achievement else {
            throw Rejection(.invalidParameter, field: "achievement", "an achievement needs its id")
        }
        guard game.achievements[id] != nil else {
            throw Rejection(
                .unknownAchievement, field: "achievement",
                "the game \(game.id) has no achievement \(id)\(nearest(id, in: game.achievements.keys)); add a section [Achievement \(id)] to its file or correct the name"
            )
        }
        return .achievement(id: id, change: try change(submission))
    }

    private static func change(_ submission: Submission) throws(Rejection) -> AchievementChange {
        let given = [submission.progress, submission.steps, submission.increment].compactMap { $0 }
        guard given.count <= 1 else {
            throw Rejection(
                .invalidParameter, field: "progress", "give only one of progress, steps and increment")
        }
        if let steps = submission.steps {
            guard steps >= 0 else { throw Rejection(.invalidValue, field: "steps", "steps must not be negative") }
            return .steps(steps)
        }
        if let increment = submission.increment {
            guard increment >= 1 else {
                throw Rejection(.invalidValue, field: "increment", "increment must be 1 or more")
            }
            return .increment(increment)
        }
        let progress = submission.progress ?? 100
        guard (0...100).contains(progress) else {
            throw Rejection(.invalidValue, field: "progress", "progress must be between 0 and 100")
        }
        return .progress(Int(progress))
    }

    private static func refuse(_ isGiven: Bool, _ field: String, kind: SubjectKind) throws(Rejection) {
        if isGiven {
            let article = kind == .achievement ? "an" : "a"
            throw Rejection(.invalidParameter, field: field, "\(field) does not belong to \(article) \(kind.rawValue)")
        }
    }

    private static func nearest(_ name: String, in names: some Collection<String>) -> String {
        Spelling.nearest(to: name, in: Array(names)).map { " (did you mean \($0)?)" } ?? ""
    }

    /// The deliveries that an event about `subject` fans out to.
    /// `endpoints` are the configured ones; a game's endpoint that is missing there is left out.
    package static func fanOut(_ subject: Subject, in game: Game, endpoints: [String: Endpoint]) -> [FanOut] {
        let known = game.endpoints.compactMap { endpoints[$0] }
        return known.enumerated().map { index, endpoint in
            let confirms =
                switch game.confirms {
                case .first: index == 0
                case .all: true
                case .endpoint(let name): endpoint.name == name
                }
            return FanOut(
                endpoint: endpoint.name, merge: merge(subject, in: game),
                isStrict: isStrict(subject, in: game, resend: endpoint.resend), priority: priority(subject),
                confirms: confirms)
        }
    }

    private static func merge(_ subject: Subject, in game: Game) -> MergeRule {
        switch subject {
        case .score(let id, _):
            guard let board = game.leaderboards[id] else { return .none }
            switch board.keep {
            case .best: return .best(board.order)
            case .latest: return .latest
            case .every, .sum: return .none
            }
        case .achievement(_, .increment): return .none
        case .achievement: return .best(.descending)
        }
    }

    private static func isStrict(_ subject: Subject, in game: Game, resend: ResendEffect) -> Bool {
        if resend == .lastWrite { return true }
        if case .score(let id, _) = subject { return game.leaderboards[id]?.keep == .latest }
        return false
    }

    private static func priority(_ subject: Subject) -> DeliveryPriority {
        switch subject {
        case .achievement(_, .increment): .counter
        case .achievement: .achievement
        case .score: .score
        }
    }
}
