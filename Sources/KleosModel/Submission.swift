/// What a client asks to submit, after its form was checked and before the catalog has been asked.
package struct Submission: Sendable, Equatable {
    package var kind: SubjectKind
    package var game: String
    package var player: String?
    package var leaderboard: String?
    /// The score's number as text, exactly as it came: `8080`, `8080.0`, `12.50`.
    package var value: String?
    package var achievement: String?
    /// Percent, as it came.
    package var progress: Int64?
    package var steps: Int64?
    package var increment: Int64?
    /// Unix milliseconds.
    package var occurredAtMilliseconds: Int64?
    /// When the client took it over, Unix milliseconds: its time where it names none, and no part of what it says.
    package var takenOverAtMilliseconds: Int64?
    package var clientID: String?
    /// A JSON object, the bytes as they came.
    package var metadata: [UInt8]?

    /// Makes a submission from its parts.
    package init(
        kind: SubjectKind, game: String, player: String? = nil, leaderboard: String? = nil, value: String? = nil,
        achievement: String? = nil, progress: Int64? = nil, steps: Int64? = nil, increment: Int64? = nil,
        occurredAtMilliseconds: Int64? = nil, clientID: String? = nil, metadata: [UInt8]? = nil
    ) {
        self.kind = kind
        self.game = game
        self.player = player
        self.leaderboard = leaderboard
        self.value = value
        self.achievement = achievement
        self.progress = progress
        self.steps = steps
        self.increment = increment
        self.occurredAtMilliseconds = occurredAtMilliseconds
        self.clientID = clientID
        self.metadata = metadata
    }
}

/// Why a submission is refused; the words are those of the protocol.
package enum RejectionReason: String, Sendable, CaseIterable {
    case unknownGame = "unknown-game"
    case unknownLeaderboard = "unknown-leaderboard"
    case unknownAchievement = "unknown-achievement"
    case playerRequired = "player-required"
    case playerNotAllowed = "player-not-allowed"
    case invalidValue = "invalid-value"
    case invalidParameter = "invalid-parameter"
    case tooLarge = "too-large"
}

/// A refusal: a stable reason, the parameter at fault, and a sentence that says what to do.
package struct Rejection: Error, Sendable, Equatable {
    package var reason: RejectionReason
    package var field: String
    package var message: String

    /// Makes a rejection from its parts.
    package init(_ reason: RejectionReason, field: String, _ message: String) {
        self.reason = reason
        self.field = field
        self.message = message
    }
}
