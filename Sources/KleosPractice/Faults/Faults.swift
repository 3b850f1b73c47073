/// What goes wrong on purpose with the next submissions; the state pages and `/faults` itself are never affected.
package struct Faults: Sendable, Equatable {
    /// How an endpoint is down.
    package enum Down: String, Sendable {
        /// The connection is closed without an answer.
        case refuse
        /// Every answer is 503.
        case unavailable = "503"
    }

    /// Whose requests are answered 401.
    package enum Unauthorized: Sendable, Equatable {
        case everybody
        case players([String])
    }

    /// One step of a script: what happens to one request.
    package enum Step: Sendable, Equatable {
        /// Nothing goes wrong.
        case ok
        /// An error with this status, 400 … 599.
        case status(Int)
        /// The connection is closed without an answer and without effect.
        case close
        /// The connection is reset in the middle of the answer, after the effect.
        case reset
        /// There is no answer and no effect; the connection stays open.
        case never
        /// The request takes effect, then the connection is closed without an answer.
        case drop
        /// A login page in place of an answer.
        case html
        /// A redirect to a login page.
        case redirect
    }

    /// Set: nothing gets through until it is taken away.
    package var down: Down?
    /// Share of the requests that are answered with one of `failureStatuses`, 0 … 1.
    package var failureShare = 0.0
    /// The statuses that `failureShare` draws from.
    package var failureStatuses = [500, 502, 503]
    /// Makes what is drawn repeatable; nil draws anew each time.
    package var seed: UInt64?
    /// How long an answer is held back, drawn evenly.
    package var latencyMilliseconds: ClosedRange<Int>?
    /// Each request takes the first step that is left; after the last step the other faults apply.
    package var script: [ScriptedStep] = []
    /// Value of the Retry-After header of 429 and 503 answers by a fault, sent as it is.
    package var retryAfter: String?
    /// Each answer is cut off after so many bytes by a reset of the connection.
    package var resetAfterBytes: Int?
    /// Share of the requests that never get an answer, 0 … 1.
    package var neverAnswer = 0.0
    /// Share of the requests that take effect and get no answer, 0 … 1.
    package var dropAnswer = 0.0
    /// Share of the requests that get a login page with status 200, 0 … 1.
    package var html = 0.0
    /// Where every request is redirected to, with status 302.
    package var redirect: String?
    /// Submissions that the service rejects.
    package var rejectWhere: [RejectRule] = []
    /// Whether every path of the contract is unknown.
    package var notFound = false
    /// Whose credentials are refused.
    package var unauthorized: Unauthorized?
    /// The faults end after so many requests; nil for no end.
    package var count: Int?

    /// No faults.
    package init() {}

    /// Faults that are nothing but a script.
    package static func script(_ steps: [Step]) -> Faults {
        var faults = Faults()
        faults.script = steps.map(ScriptedStep.init)
        return faults
    }

    /// Down until told otherwise.
    package static func down(_ down: Down) -> Faults {
        var faults = Faults()
        faults.down = down
        return faults
    }
}

/// A kind of submission that the service rejects; a rule without conditions rejects all.
package struct RejectRule: Sendable, Equatable {
    package var game: String?
    package var leaderboard: String?
    package var achievement: String?
    package var player: String?
    /// Exactly this value.
    package var value: String?
    /// Values less than this.
    package var valueBelow: String?
    /// Values greater than this.
    package var valueAbove: String?
    /// 400 … 599.
    package var status = 422
    /// The code of the error.
    package var code = "rejected"
    /// The sentence of the error.
    package var message = "the service rejects this"

    /// A rule that rejects everything with 422 `rejected`.
    package init() {}
}
