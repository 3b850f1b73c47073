/// What one try came to.
package enum Outcome: String, Sendable, CaseIterable {
    /// The endpoint confirmed the event.
    case delivered
    /// The endpoint had the event before; as good as delivered.
    case alreadyDone = "already-done"
    /// Not now; the event is tried again.
    case retry
    /// The endpoint asks to slow down; the event is tried again.
    case throttled
    /// The endpoint refuses the event.
    case permanent
    /// The endpoint refuses whoever asks; the event stays.
    case credentials
    /// The daemon stopped or was killed before the answer came.
    case interrupted
}

/// One try at a delivery, with its outcome; attempts are the receipt.
package struct Attempt: Sendable, Equatable {
    /// Counts from 1 within the delivery.
    package var number: Int
    /// When it began, Unix milliseconds.
    package var startedMilliseconds: Int64
    package var durationMilliseconds: Int64
    package var outcome: Outcome
    /// HTTP status, where an answer came.
    package var status: Int?
    /// What went wrong, as a sentence.
    package var error: String?
    /// The beginning of the answer's body, at most `maximumAnswerBytes`; nothing secret.
    package var answer: String?

    /// The most that an attempt keeps of an answer, in bytes.
    package static let maximumAnswerBytes = 1_024

    /// Makes an attempt from its parts.
    package init(
        number: Int, startedMilliseconds: Int64, durationMilliseconds: Int64, outcome: Outcome, status: Int? = nil,
        error: String? = nil, answer: String? = nil
    ) {
        self.number = number
        self.startedMilliseconds = startedMilliseconds
        self.durationMilliseconds = durationMilliseconds
        self.outcome = outcome
        self.status = status
        self.error = error
        self.answer = answer
    }
}

/// What the endpoint said about a confirmed event.
package struct Confirmation: Sendable, Equatable {
    /// Counts from 1.
    package var rank: Int64?
    /// The stored best, in the service's own words.
    package var best: String?
    /// Whether the event changed anything: a new best, a newly unlocked achievement; nil where the service does not
    /// say.
    package var changed: Bool?
    /// Whether the achievement is now unlocked; nil where the service does not say.
    package var unlocked: Bool?

    /// Makes a confirmation from its parts.
    package init(rank: Int64? = nil, best: String? = nil, changed: Bool? = nil, unlocked: Bool? = nil) {
        self.rank = rank
        self.best = best
        self.changed = changed
        self.unlocked = unlocked
    }
}

/// What becomes of a delivery after an attempt; decided by the planner, carried out by the store.
package enum Settlement: Sendable, Equatable {
    /// Confirmed; `notice` says what to tell the player once all confirming deliveries are in.
    case delivered(Confirmation, notice: NoticeDraft?)
    /// Tried again at the given Unix time; `isServerError` counts towards the endpoint's limit for one delivery.
    case retry(dueMilliseconds: Int64, isServerError: Bool)
    /// Given up.
    case dead(DeliveryReason, message: String)
}
