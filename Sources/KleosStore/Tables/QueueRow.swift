import KleosModel

/// A delivery that still has a way to go.
struct QueueRow: Record {
    var number: Int64 = 0
    var stream: Int64 = 0
    var lane: Int64 = 0
    var uid: UInt32 = 0
    var state = DeliveryState.waiting
    var reason: DeliveryReason?
    var message: String?
    var weight = DeliveryPriority.score
    var merge = MergeRule.none
    var isStrict = false
    /// Whether the stream has a head: it merges or is strict.
    var isOrdered = false
    var confirms = false
    /// When it is tried again; nil unless it is in backoff.
    var due: Int64?
    var attempts = 0
    /// Attempts of deliveries that this one replaced, for backoff; negative where an operator asked to start afresh.
    var inherited = 0
    var serverErrors = 0
    /// Whether an attempt may have taken effect unanswered.
    var isUnanswered = false
    var ignoresAge = false
    var pending: PendingAction?
    /// What a second send does, as was promised at the claim.
    var resend: Int64?
    /// The delivery whose confirmation it waits for.
    var after: Int64?
    /// The request as it first went out, where it has to go out the same again.
    var letter: [UInt8]?

    /// What happens to a delivery in flight once it settles.
    enum PendingAction: String, CodedWord {
        case hold
        case discard
        case unconfigured

        static let words = Array(allCases)

        var code: Int64 {
            switch self {
            case .hold: 0
            case .discard: 1
            case .unconfigured: 2
            }
        }
    }

    static let table = Table<QueueRow>(
        "queue", alias: "q",
        checks: ["due IS NULL OR state = 1", "reason IS NOT NULL OR state != 2"],
        indexes: [
            // A query uses a partial index only if its WHERE repeats the index's own condition.
            "CREATE INDEX queue_fresh ON queue(lane, weight, id) WHERE state = 1 AND due IS NULL",
            "CREATE INDEX queue_due ON queue(lane, weight, due, id) WHERE due IS NOT NULL",
            "CREATE INDEX queue_stream ON queue(stream, state, id) WHERE ordered = 1",
            "CREATE INDEX queue_held ON queue(id, reason) WHERE state = 2",
        ])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number)
        columns.column("stream", &stream)
        columns.column("lane", &lane)
        columns.column("uid", &uid)
        columns.column("state", &state, check: "state BETWEEN 0 AND 2")
        columns.column("reason", &reason)
        columns.column("message", &message)
        columns.column("weight", &weight, check: "weight BETWEEN 0 AND 2")
        columns.column("merge", &merge, check: "merge BETWEEN 0 AND 3")
        columns.column("strict", &isStrict)
        columns.column("ordered", &isOrdered)
        columns.column("confirms", &confirms)
        columns.column("due", &due)
        columns.column("attempts", &attempts)
        columns.column("inherited", &inherited)
        columns.column("server_errors", &serverErrors)
        columns.column("unanswered", &isUnanswered)
        columns.column("ignores_age", &ignoresAge)
        columns.column("pending", &pending)
        columns.column("resend", &resend)
        columns.column("after", &after)
        columns.column("letter", &letter)
    }
}

/// A delivery that has come to its end.
struct DoneRow: Record {
    var number: Int64 = 0
    var stream: Int64 = 0
    var uid: UInt32 = 0
    var state = DeliveryState.delivered
    var reason: DeliveryReason?
    var message: String?
    var weight = DeliveryPriority.score
    var merge = MergeRule.none
    var isStrict = false
    var confirms = false
    var attempts = 0
    var inherited = 0
    var serverErrors = 0
    var isUnanswered = false
    var ignoresAge = false
    var settled: Int64 = 0
    /// Whether that was read from a clock that a time source disciplined.
    var isSettledSynchronized = false
    /// What replaced it first; that may have been replaced since.
    var superseder: Int64?
    /// The contest in which it gave way; nil where it did so for good from the start.
    var round: Int64?
    /// What it was worth there; the greater wins.
    var worth: [UInt8]?
    var rank: Int64?
    var best: String?
    var changed: Bool?
    var unlocked: Bool?
    var letter: [UInt8]?
    var tried: Int64?
    var took: Int64?
    var outcome: Outcome?
    var status: Int?
    var error: String?
    var answer: String?

    static let table = Table<DoneRow>(
        "done", alias: "d",
        checks: [
            "reason IS NOT NULL OR state != 6", "round IS NULL OR (state = 5 AND worth IS NOT NULL)",
            "superseder IS NULL OR state = 5", "(tried IS NULL) = (outcome IS NULL)",
        ],
        indexes: [
            "CREATE INDEX done_dead ON done(uid, id) WHERE state = 6",
            "CREATE INDEX done_dead_all ON done(id) WHERE state = 6",
            "CREATE INDEX done_contest ON done(stream, round, worth, id DESC) WHERE round IS NOT NULL",
        ])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number)
        columns.column("stream", &stream)
        columns.column("uid", &uid)
        columns.column("state", &state, check: "state BETWEEN 4 AND 7")
        columns.column("reason", &reason)
        columns.column("message", &message)
        columns.column("weight", &weight, check: "weight BETWEEN 0 AND 2")
        columns.column("merge", &merge, check: "merge BETWEEN 0 AND 3")
        columns.column("strict", &isStrict)
        columns.column("confirms", &confirms)
        columns.column("attempts", &attempts)
        columns.column("inherited", &inherited)
        columns.column("server_errors", &serverErrors)
        columns.column("unanswered", &isUnanswered)
        columns.column("ignores_age", &ignoresAge)
        columns.column("settled", &settled)
        columns.column("settled_synchronized", &isSettledSynchronized)
        columns.column("superseder", &superseder)
        columns.column("round", &round)
        columns.column("worth", &worth)
        columns.column("rank", &rank)
        columns.column("best", &best)
        columns.column("changed", &changed)
        columns.column("unlocked", &unlocked)
        columns.column("letter", &letter)
        columns.column("tried", &tried)
        columns.column("took", &took)
        columns.column("outcome", &outcome)
        columns.column("status", &status)
        columns.column("error", &error)
        columns.column("answer", &answer)
    }
}

/// A try at a delivery before its last one.
struct AttemptRow: Record {
    var delivery: Int64 = 0
    var attempt = 0
    var started: Int64 = 0
    var duration: Int64 = 0
    var outcome = Outcome.retry
    var status: Int?
    var error: String?
    var answer: String?

    static let table = Table<AttemptRow>("attempts", alias: "a")

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("delivery", &delivery)
        columns.key("number", &attempt, check: "number > 0")
        columns.column("started", &started)
        columns.column("duration", &duration)
        columns.column("outcome", &outcome)
        columns.column("status", &status)
        columns.column("error", &error)
        columns.column("answer", &answer)
    }
}

/// Deliveries that were claimed together and are in flight, with the letters that have to go out the same again.
struct FlightRow: Record {
    var number: Int64 = 0
    var claimed: Int64 = 0
    var cargo: [UInt8] = []

    static let table = Table<FlightRow>("flights", alias: "f")

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number)
        columns.column("claimed", &claimed)
        columns.column("cargo", &cargo)
    }
}
