import KleosModel

/// The queue and what is done: every delivery is in exactly one of them.
final class Deliveries {
    private let database: Connection
    private let flights: Flights

    init(_ database: Connection, flights: Flights) {
        self.database = database
        self.flights = flights
    }

    private static let queueList = "\(QueueRow.table.list), \(EventRow.table.list)"
    private static let doneList = "\(DoneRow.table.list), \(EventRow.table.list)"
    /// The queue with its events; statements add their own conditions.
    static let selectQueue = "SELECT \(queueList) FROM queue q CROSS JOIN events e ON e.id = q.id >> 12"
    /// What is done with its events, likewise.
    static let selectDone = "SELECT \(doneList) FROM done d CROSS JOIN events e ON e.id = d.id >> 12"

    private static let queueSQL = SQL("\(selectQueue) WHERE q.id = ?1")
    private static let doneSQL = SQL("\(selectDone) WHERE d.id = ?1")
    private static let queueOfEventSQL = SQL("\(selectQueue) WHERE q.id BETWEEN ?1 AND ?2 ORDER BY q.id")
    private static let doneOfEventSQL = SQL("\(selectDone) WHERE d.id BETWEEN ?1 AND ?2 ORDER BY d.id")
    private static let laneSQL = SQL("SELECT lane FROM streams WHERE id = ?1")
    private static let attemptsSQL = SQL(
        "SELECT \(AttemptRow.table.list) FROM attempts a WHERE a.delivery = ?1 ORDER BY a.number")
    private static let deleteAttemptsSQL = SQL("DELETE FROM attempts WHERE delivery = ?1")
    private static let lastStartedSQL = SQL(
        "SELECT started FROM attempts WHERE delivery = ?1 ORDER BY number DESC LIMIT 1")

    /// Reads a row of `selectQueue`.
    func queued(_ statement: Statement) -> DeliveryRow {
        let row = QueueRow.table.read(statement)
        let event = EventRow.table.read(statement, from: QueueRow.table.columns.count)
        return DeliveryRow(row, event, isInFlight: flights.contains(row.number))
    }

    /// Reads a row of `selectDone`.
    func done(_ statement: Statement) -> DeliveryRow {
        let event = EventRow.table.read(statement, from: DoneRow.table.columns.count)
        return DeliveryRow(DoneRow.table.read(statement), event)
    }

    /// Reads a delivery that still has a way to go. Throws `StoreError`.
    func queued(_ id: DeliveryID) throws(StoreError) -> DeliveryRow? {
        try database.first(Self.queueSQL, SQLValue(id.number)) { queued($0) }
    }

    /// Reads a delivery. Throws `StoreError`.
    func row(_ id: DeliveryID) throws(StoreError) -> DeliveryRow? {
        if let row = try queued(id) { return row }
        return try database.first(Self.doneSQL, SQLValue(id.number)) { done($0) }
    }

    /// The deliveries of an event, in the order of their endpoints. Throws `StoreError`.
    func rows(ofEvent event: Int64) throws(StoreError) -> [DeliveryRow] {
        let range = DeliveryNumber.range(event: event)
        let values = [SQLValue(range.lowerBound), SQLValue(range.upperBound)]
        var rows = try database.rows(Self.queueOfEventSQL, values) { queued($0) }
        rows += try database.rows(Self.doneOfEventSQL, values) { done($0) }
        return rows.sorted { $0.id < $1.id }
    }

    private static let anyOfEventSQL = SQL(
        """
        SELECT EXISTS(SELECT 1 FROM queue WHERE id BETWEEN ?1 AND ?2)
            OR EXISTS(SELECT 1 FROM done WHERE id BETWEEN ?1 AND ?2)
        """)

    /// Whether an event has any delivery. Throws `StoreError`.
    func hasAny(ofEvent event: Int64) throws(StoreError) -> Bool {
        let range = DeliveryNumber.range(event: event)
        return try database.integer(Self.anyOfEventSQL, SQLValue(range.lowerBound), SQLValue(range.upperBound)) == 1
    }

    /// Adds a delivery. `lane` is that of its stream. Throws `StoreError`.
    func insert(_ row: DeliveryRow, lane: Int64) throws(StoreError) {
        if row.state.isUnsettled {
            flights.comesIntoQueue(row.id.number)
            try database.insert(row.queueRow(lane: lane))
        } else {
            try insertDone(row)
        }
    }

    /// Writes a delivery that was `old` before, whatever changed in it. Fails where it is not there any more. Throws
    /// `StoreError`.
    func write(_ row: DeliveryRow, from old: DeliveryState) throws(StoreError) {
        let isThere: Bool
        switch (old.isUnsettled, row.state.isUnsettled) {
        case (true, true): isThere = try database.update(row.queueRow(lane: try lane(of: row.stream)))
        case (false, false): isThere = try database.update(row.doneRow)
        case (true, false):
            isThere = try database.delete(QueueRow.self, SQLValue(row.id.number))
            if isThere { try insertDone(row) }
        case (false, true):
            isThere = try database.delete(DoneRow.self, SQLValue(row.id.number))
            if isThere { try revive(row) }
        }
        guard isThere else {
            throw StoreError(
                .fault, operation: "change delivery \(row.id)", message: "it is not \(old.rawValue) any more")
        }
    }

    private func insertDone(_ row: DeliveryRow) throws(StoreError) {
        try database.insert(row.doneRow)
        if let last = row.last { try forgetMiddle(row.id, last.number) }
    }

    private func revive(_ row: DeliveryRow) throws(StoreError) {
        flights.comesIntoQueue(row.id.number)
        try database.insert(row.queueRow(lane: try lane(of: row.stream)))
        if let last = row.last { try add(last, to: row.id) }
    }

    /// The lane of a stream. Throws `StoreError`.
    func lane(of stream: Int64) throws(StoreError) -> Int64 {
        try database.integer(Self.laneSQL, SQLValue(stream)) ?? 0
    }

    /// Removes a delivery with its attempts. Throws `StoreError`.
    func remove(_ row: DeliveryRow) throws(StoreError) {
        if row.attempts > 0 { try database.run(Self.deleteAttemptsSQL, SQLValue(row.id.number)) }
        if row.state.isUnsettled {
            try database.delete(QueueRow.self, SQLValue(row.id.number))
        } else {
            try database.delete(DoneRow.self, SQLValue(row.id.number))
        }
    }

    /// How many attempts are kept from the beginning and from the end.
    static let attemptsKeptAtEachEnd = 10

    /// Writes an attempt and drops the one that is neither among the first nor the last any more. Throws `StoreError`.
    func add(_ attempt: Attempt, to id: DeliveryID) throws(StoreError) {
        try database.insert(AttemptRow(attempt, of: id))
        try forgetMiddle(id, attempt.number)
    }

    private func forgetMiddle(_ id: DeliveryID, _ latest: Int) throws(StoreError) {
        let kept = Self.attemptsKeptAtEachEnd
        guard latest > 2 * kept else { return }
        try database.delete(AttemptRow.self, SQLValue(id.number), SQLValue(latest - kept))
    }

    /// The attempts at a delivery, in order. Throws `StoreError`.
    func attempts(of row: DeliveryRow) throws(StoreError) -> [Attempt] {
        guard row.attempts > 0 else { return [] }
        var attempts = try database.rows(Self.attemptsSQL, [SQLValue(row.id.number)]) {
            AttemptRow.table.read($0).value
        }
        if let last = row.last { attempts.append(last) }
        return attempts
    }

    /// When the attempt at a delivery before the one in flight began, Unix milliseconds. Throws `StoreError`.
    func lastStarted(_ id: DeliveryID) throws(StoreError) -> Int64? {
        try database.integer(Self.lastStartedSQL, SQLValue(id.number))
    }
}
