import KleosModel

/// A delivery as the rules of its stream see it.
struct DeliveryRow {
    let id: DeliveryID
    let event: Int64
    let stream: Int64
    let endpoint: Int64
    let uid: UInt32
    let merge: MergeRule
    let isStrict: Bool
    let confirms: Bool
    let key: EventKey
    let game: String
    let player: String
    /// Nil for what is never merged.
    let measure: StandingMeasure?

    var state: DeliveryState
    var reason: DeliveryReason?
    var message: String?
    var dueMilliseconds: Int64
    var isInBackoff: Bool
    var attempts: Int
    /// Attempts of deliveries that this one replaced, for backoff; negative where an operator asked to start afresh.
    var inheritedAttempts: Int
    var serverErrors: Int
    var isUnanswered: Bool
    var ignoresAge: Bool
    var pending: PendingAction?
    var supersededBy: DeliveryID?
    var settledMilliseconds: Int64?

    /// What happens to a delivery in flight once it settles.
    enum PendingAction: String {
        case hold
        case discard
        case unconfigured
    }

    /// Attempts that backoff counts, without those still to come.
    var backoffAttempts: Int { max(0, attempts + inheritedAttempts) }

    static let columns = """
        d.id, d.event, d.stream, d.endpoint, d.uid, d.merge, d.strict, d.confirms, e.key, e.game, e.player, e.measure, \
        e.amount, e.decimals, d.state, d.reason, d.message, d.due, d.backoff, d.attempts, d.inherited, \
        d.server_errors, d.unanswered, d.ignores_age, d.pending, d.superseded_by, d.settled
        """

    static let select = "SELECT \(columns) FROM deliveries d CROSS JOIN events e ON e.id = d.event"

    static let selectByID = "\(select) WHERE d.id = ?1"

    /// As `select`, by way of an index.
    static func select(using index: String) -> String {
        "SELECT \(columns) FROM deliveries d INDEXED BY \(index) CROSS JOIN events e ON e.id = d.event"
    }

    init(_ row: Statement) {
        id = DeliveryID(row.integer(0))
        event = row.integer(1)
        stream = row.integer(2)
        endpoint = row.integer(3)
        uid = UInt32(truncatingIfNeeded: row.integer(4))
        merge = MergeRule(code: row.integer(5))
        isStrict = row.flag(6)
        confirms = row.flag(7)
        key = EventKey(row, 8)
        game = row.text(9)
        player = row.text(10)
        measure = StoredMeasure(row, 11).measure
        state = DeliveryState(row, 14)
        reason = row.optionalText(15).flatMap(DeliveryReason.init)
        message = row.optionalText(16)
        dueMilliseconds = row.integer(17)
        isInBackoff = row.flag(18)
        attempts = Int(row.integer(19))
        inheritedAttempts = Int(row.integer(20))
        serverErrors = Int(row.integer(21))
        isUnanswered = row.flag(22)
        ignoresAge = row.flag(23)
        pending = row.optionalText(24).flatMap(PendingAction.init)
        supersededBy = row.optionalInteger(25).map(DeliveryID.init)
        settledMilliseconds = row.optionalInteger(26)
    }
}

extension DeliveryState {
    /// Reads a state; one that the schema's CHECK would not let in is damage.
    init(_ row: Statement, _ column: Int32) {
        if let state = DeliveryState(rawValue: row.text(column)) {
            self = state
        } else {
            row.reportDamage("a delivery has a state that there is not")
            self = .held
        }
    }
}

extension Outbox {
    /// Reads one delivery.
    func row(_ id: DeliveryID) throws(StoreError) -> DeliveryRow? {
        try database.first(DeliveryRow.selectByID, SQLValue(id.number)) { DeliveryRow($0) }
    }

    /// Moves `row` to `state`, together with everything else that was changed in it; guarded by the state that it had.
    func move(
        _ row: inout DeliveryRow, to state: DeliveryState, reason: DeliveryReason? = nil, message: String? = nil,
        nowMilliseconds: Int64
    ) throws(StoreError) {
        let old = row.state
        row.state = state
        row.reason = reason
        row.message = message
        if state != .ready { row.isInBackoff = false }
        if state != .sending { row.pending = nil }
        if state != .superseded { row.supersededBy = nil }
        row.settledMilliseconds = state.isUnsettled ? nil : nowMilliseconds
        try write(row, expecting: old)
        try record(row, from: old)
    }

    /// Writes what may change in a delivery, guarded by the state that it has in the database.
    func write(_ row: DeliveryRow, expecting state: DeliveryState) throws(StoreError) {
        let changed = try database.run(
            """
            UPDATE deliveries SET state = ?3, reason = ?4, message = ?5, due = ?6, backoff = ?7, attempts = ?8,
                inherited = ?9, server_errors = ?10, unanswered = ?11, ignores_age = ?12, pending = ?13,
                superseded_by = ?14, settled = ?15
            WHERE id = ?1 AND state = ?2
            """,
            SQLValue(row.id.number), SQLValue(state.rawValue), SQLValue(row.state.rawValue),
            SQLValue(row.reason?.rawValue), SQLValue(row.message), SQLValue(row.dueMilliseconds),
            SQLValue(row.isInBackoff), SQLValue(row.attempts), SQLValue(row.inheritedAttempts),
            SQLValue(row.serverErrors), SQLValue(row.isUnanswered), SQLValue(row.ignoresAge),
            SQLValue(row.pending?.rawValue), SQLValue(row.supersededBy?.number), SQLValue(row.settledMilliseconds))
        guard changed == 1 else {
            throw StoreError(
                .fault, operation: "change delivery \(row.id)", message: "it is not \(state.rawValue) any more")
        }
    }

    /// Counts a change of state and notes it down for those who are told.
    func record(_ row: DeliveryRow, from old: DeliveryState?) throws(StoreError) {
        let endpoint = try endpointName(row.endpoint)
        if row.state == .ready { effects.changes.readyEndpoints.insert(endpoint) }
        if old == row.state { return }
        if let old { effects.counts[CounterKey(endpoint: row.endpoint, state: old.rawValue), default: 0] -= 1 }
        effects.counts[CounterKey(endpoint: row.endpoint, state: row.state.rawValue), default: 0] += 1
        effects.changes.deliveries.append(
            DeliveryChange(
                key: row.key, endpoint: endpoint, game: row.game, player: row.player, uid: row.uid, from: old,
                to: row.state, reason: row.reason))
    }
}
