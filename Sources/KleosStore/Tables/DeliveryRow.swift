import KleosModel

/// A delivery with its event, wherever it is kept: in the queue, in flight, or done.
struct DeliveryRow {
    let id: DeliveryID
    let event: EventRow
    let stream: Int64
    let uid: UInt32
    let weight: DeliveryPriority
    let merge: MergeRule
    let isStrict: Bool
    let confirms: Bool

    var state: DeliveryState
    var reason: DeliveryReason?
    var message: String?
    /// When it is tried again, Unix milliseconds; nil unless it is in backoff, or was when it went out.
    var due: Int64?
    var attempts: Int
    var inherited: Int
    var serverErrors: Int
    var isUnanswered: Bool
    var ignoresAge: Bool
    var pending: QueueRow.PendingAction?
    var letter: [UInt8]?
    var resend: Int64?
    var after: Int64?
    var settled: Int64?
    var isSettledSynchronized = false
    var superseder: Int64?
    var round: Int64?
    /// What it was worth where it gave way.
    var storedWorth: [UInt8]?
    var confirmation = Confirmation()
    /// The last try, once the delivery came to its end.
    var last: Attempt?
    /// Whether it is in backoff in the database.
    var isStoredInBackoff = false

    /// Whether the stream has a head.
    var isOrdered: Bool { merge != .none || isStrict }
    var key: EventKey { event.key }
    var game: String { event.game }
    var player: String { event.player }
    /// How far the event brings its player; nil for what is never merged.
    var measure: StandingMeasure? { event.subject.measure }
    /// What it is worth in its stream's contest; nil for what is never merged.
    var worth: [UInt8]? { storedWorth ?? Worth.bytes(of: measure, merge: merge, delivery: id.number) }
    var board: BoardKey { BoardKey(game: event.game, kind: event.kind, item: event.item) }
    /// Attempts that backoff counts, without those still to come.
    var backoffAttempts: Int { max(0, attempts + inherited) }

    /// A new delivery.
    init(event: EventRow, stream: Int64, endpoint: Int64, way: FanOut) {
        id = DeliveryID(DeliveryNumber.make(event: event.number, endpoint: endpoint))
        self.event = event
        self.stream = stream
        uid = event.uid
        weight = way.priority
        merge = way.merge
        isStrict = way.isStrict
        confirms = way.confirms
        state = .waiting
        (attempts, inherited, serverErrors) = (0, 0, 0)
        (isUnanswered, ignoresAge) = (false, false)
    }

    /// What the queue has; in flight where `isInFlight` says so.
    init(_ row: QueueRow, _ event: EventRow, isInFlight: Bool) {
        id = DeliveryID(row.number)
        self.event = event
        stream = row.stream
        uid = row.uid
        weight = row.weight
        merge = row.merge
        isStrict = row.isStrict
        confirms = row.confirms
        state = isInFlight ? .sending : row.state
        reason = row.reason
        message = row.message
        due = row.due
        isStoredInBackoff = row.due != nil
        attempts = row.attempts
        inherited = row.inherited
        serverErrors = row.serverErrors
        isUnanswered = row.isUnanswered
        ignoresAge = row.ignoresAge
        pending = row.pending
        letter = row.letter
        resend = row.resend
        after = row.after
    }

    /// What came to its end.
    init(_ row: DoneRow, _ event: EventRow) {
        id = DeliveryID(row.number)
        self.event = event
        stream = row.stream
        uid = row.uid
        weight = row.weight
        merge = row.merge
        isStrict = row.isStrict
        confirms = row.confirms
        state = row.state
        reason = row.reason
        message = row.message
        attempts = row.attempts
        inherited = row.inherited
        serverErrors = row.serverErrors
        isUnanswered = row.isUnanswered
        ignoresAge = row.ignoresAge
        letter = row.letter
        settled = row.settled
        isSettledSynchronized = row.isSettledSynchronized
        superseder = row.superseder
        round = row.round
        storedWorth = row.worth
        confirmation = Confirmation(rank: row.rank, best: row.best, changed: row.changed, unlocked: row.unlocked)
        last = row.last
    }

    /// The row in the queue, in `lane`.
    func queueRow(lane: Int64) -> QueueRow {
        var row = QueueRow()
        row.number = id.number
        row.stream = stream
        row.lane = lane
        row.uid = uid
        row.state = state == .sending ? .ready : state
        row.reason = reason
        row.message = message
        row.weight = weight
        row.merge = merge
        row.isStrict = isStrict
        row.isOrdered = isOrdered
        row.confirms = confirms
        row.due = state == .ready || state == .sending ? due : nil
        row.attempts = attempts
        row.inherited = inherited
        row.serverErrors = serverErrors
        row.isUnanswered = isUnanswered
        row.ignoresAge = ignoresAge
        row.pending = pending
        row.resend = resend
        row.after = after
        row.letter = letter
        return row
    }

    /// The row of what came to its end.
    var doneRow: DoneRow {
        var row = DoneRow()
        row.number = id.number
        row.stream = stream
        row.uid = uid
        row.state = state
        row.reason = reason
        row.message = message
        row.weight = weight
        row.merge = merge
        row.isStrict = isStrict
        row.confirms = confirms
        row.attempts = attempts
        row.inherited = inherited
        row.serverErrors = serverErrors
        row.isUnanswered = isUnanswered
        row.ignoresAge = ignoresAge
        row.settled = settled ?? 0
        row.isSettledSynchronized = isSettledSynchronized
        row.superseder = superseder
        row.round = round
        row.worth = round == nil ? nil : worth
        row.rank = confirmation.rank
        row.best = confirmation.best
        row.changed = confirmation.changed
        row.unlocked = confirmation.unlocked
        row.letter = letter
        row.last = last
        return row
    }
}

extension DoneRow {
    /// The last try.
    var last: Attempt? {
        get {
            guard let tried, let outcome else { return nil }
            return Attempt(
                number: attempts, startedMilliseconds: tried, durationMilliseconds: took ?? 0, outcome: outcome,
                status: status, error: error, answer: answer)
        }
        set {
            tried = newValue?.startedMilliseconds
            took = newValue?.durationMilliseconds
            outcome = newValue?.outcome
            status = newValue?.status
            error = newValue?.error
            answer = newValue?.answer
        }
    }
}

extension AttemptRow {
    /// Makes the row of a delivery's attempt.
    init(_ attempt: Attempt, of delivery: DeliveryID) {
        self.init()
        self.delivery = delivery.number
        self.attempt = attempt.number
        started = attempt.startedMilliseconds
        duration = attempt.durationMilliseconds
        outcome = attempt.outcome
        status = attempt.status
        error = attempt.error
        answer = attempt.answer
    }

    /// The attempt.
    var value: Attempt {
        Attempt(
            number: attempt, startedMilliseconds: started, durationMilliseconds: duration, outcome: outcome,
            status: status, error: error, answer: answer)
    }
}
