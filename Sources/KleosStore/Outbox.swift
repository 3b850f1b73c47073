import KleosModel
import KleosSupport

/// The outbox inside the open transaction; used only within `Store.perform`.
///
/// Every method throws `StoreError`. A method that throws may have changed something; the transaction is then undone.
package final class Outbox {
    let database: Connection
    let options: StoreOptions
    let log: Log
    let space: Space
    let counters: Counters
    let endpoints: Endpoints
    let events: Events
    let streams: Streams
    let flights: Flights
    let deliveries: Deliveries
    let turns: LaneTurns
    /// What the open transaction did, told after its COMMIT.
    var changes = OutboxChanges()
    /// Where long work that goes in turns went on to.
    var upkeep = UpkeepCursor()

    /// In place of the next COMMIT, for tests of what follows a failed one.
    var commitFault: StoreError?

    /// Takes over an opened database. Throws `StoreError`.
    init(database: Connection, options: StoreOptions, space: Space, log: Log) throws(StoreError) {
        self.database = database
        self.options = options
        self.space = space
        self.log = log
        counters = Counters(database)
        endpoints = Endpoints(database)
        events = Events(database, secret: try Self.secret(database))
        streams = Streams(database)
        flights = Flights(database)
        deliveries = Deliveries(database, flights: flights)
        turns = LaneTurns()
        try flights.read()
    }

    private static func secret(_ database: Connection) throws(StoreError) -> StoreSecret {
        guard let secret = try database.meta(.secret).flatMap(StoreSecret.init) else {
            throw StoreError(.damaged, operation: "use the outbox", message: "what masks its keys cannot be read")
        }
        return secret
    }

    private static let beginSQL = SQL("BEGIN")
    private static let commitSQL = SQL("COMMIT")
    private static let rollbackSQL = SQL("ROLLBACK")

    /// Opens a transaction.
    func begin() throws(StoreError) {
        precondition(counters.isUnchanged && changes.isEmpty, "effects of a transaction that was not ended")
        space.startTransaction()
        try database.run(Self.beginSQL)
    }

    /// Makes the transaction durable and returns what it changed.
    func commit() throws(StoreError) -> OutboxChanges {
        try flights.write()
        try counters.write()
        if let commitFault {
            self.commitFault = nil
            throw commitFault
        }
        try database.run(Self.commitSQL)
        counters.endTransaction(isCommitted: true)
        defer { changes = OutboxChanges() }
        return changes
    }

    /// Undoes the transaction; also where SQLite has already done so.
    func rollback() throws(StoreError) {
        changes = OutboxChanges()
        counters.endTransaction(isCommitted: false)
        endpoints.forget()
        events.forget()
        streams.forget()
        turns.forget()
        upkeep = UpkeepCursor()
        if database.isInTransaction { try database.run(Self.rollbackSQL) }
        try flights.read()
    }

    /// How many changes there were, those to what is in flight included, which are written at the end.
    var changeCount: Int64 { database.totalChanges + Int64(flights.changes) }

    /// Whether the open transaction changed anything since `count` was read from `changeCount`.
    func hasChanged(since count: Int64) -> Bool { changeCount != count || !database.isInTransaction }
}

// What every rule does with a delivery: it is written where it belongs, counted, and noted down for those who are told.
extension Outbox {
    /// Adds a delivery to `stream`.
    func add(_ row: inout DeliveryRow, to stream: StreamRow) throws(StoreError) {
        try deliveries.insert(row, lane: stream.lane)
        try noteBackoff(&row)
        account(row, 1)
        try tell(row, from: nil, lane: stream.lane)
    }

    /// Moves `row` to `state`, together with everything else that was changed in it; guarded by where it was.
    func move(
        _ row: inout DeliveryRow, to state: DeliveryState, reason: DeliveryReason? = nil, message: String? = nil,
        now: ClockReading
    ) throws(StoreError) {
        let old = row.state
        row.state = state
        row.reason = reason
        row.message = message
        if state != .ready && state != .sending { row.due = nil }
        if state != .sending { row.pending = nil }
        if state != .superseded {
            row.superseder = nil
            row.round = nil
            row.storedWorth = nil
        }
        row.settled = state.isUnsettled ? nil : now.wallMilliseconds
        row.isSettledSynchronized = !state.isUnsettled && now.isSynchronized
        if old == .sending, state != .sending { try flights.land(row.id.number, isBack: state.isUnsettled) }
        try write(&row, from: old)
    }

    /// Writes a delivery that was `old` before.
    func write(_ row: inout DeliveryRow, from old: DeliveryState) throws(StoreError) {
        try deliveries.write(row, from: old)
        if row.state.isUnsettled { row.last = nil }
        try noteBackoff(&row)
        if old.isOwed != row.state.isOwed {
            var before = row
            before.state = old
            account(before, -1)
            account(row, 1)
        } else {
            if old == .dead { countDead(row, -1) }
            if row.state == .dead { countDead(row, 1) }
        }
        try tell(row, from: old, lane: nil)
    }

    /// Keeps the count of what is in backoff in a stream without a head.
    private func noteBackoff(_ row: inout DeliveryRow) throws(StoreError) {
        let isInBackoff = row.state.isUnsettled && row.due != nil
        defer { row.isStoredInBackoff = isInBackoff }
        guard !row.isOrdered, isInBackoff != row.isStoredInBackoff else { return }
        if try streams.addInBackoff(isInBackoff ? 1 : -1, stream: row.stream) {
            turns.rewind(lane: try deliveries.lane(of: row.stream))
            changes.readyEndpoints.insert(try endpoints.name(row.id.endpoint))
        }
    }

    private func tell(_ row: DeliveryRow, from old: DeliveryState?, lane: Int64?) throws(StoreError) {
        let endpoint = try endpoints.name(row.id.endpoint)
        if row.state == .ready {
            changes.readyEndpoints.insert(endpoint)
            let itsLane = if let lane { lane } else { try deliveries.lane(of: row.stream) }
            turns.wake(
                lane: itsLane, endpoint: row.id.endpoint, weight: row.weight,
                delivery: row.id.number)
        }
        if old == row.state { return }
        let stored = { (state: DeliveryState) in state == .sending ? DeliveryState.ready : state }
        if let old { counters.add(-1, to: .deliveries(row.id.endpoint, stored(old))) }
        counters.add(1, to: .deliveries(row.id.endpoint, stored(row.state)))
        changes.deliveries.append(
            DeliveryChange(
                key: row.key, endpoint: endpoint, game: row.game, player: row.player, uid: row.uid, from: old,
                to: row.state, reason: row.reason))
    }

    /// Removes a delivery with its receipt, and its event with the last one.
    func erase(_ row: DeliveryRow) throws(StoreError) {
        if row.state == .sending { try flights.land(row.id.number, isBack: false) }
        try deliveries.remove(row)
        if row.isStoredInBackoff {
            var gone = row
            gone.due = nil
            try noteBackoff(&gone)
        }
        let counted = row.state == .sending ? DeliveryState.ready : row.state
        counters.add(-1, to: .deliveries(row.id.endpoint, counted))
        account(row, -1)
        let event = row.event.number
        guard try !deliveries.hasAny(ofEvent: event) else { return }
        try events.remove(event)
        try forgetCopied(event: event)
    }
}
