import KleosModel
package import KleosSupport

extension Outbox {
    /// How many deliveries a step looks at after a change of the configuration.
    private static let reconciledPerStep = 400
    private static let walkSQL = SQL("\(Deliveries.selectQueue) WHERE q.id > ?1 ORDER BY q.id LIMIT ?2")
    private static let heldSQL = SQL(
        "\(Deliveries.selectQueue) WHERE q.state = 2 AND q.reason = \(DeliveryReason.unconfigured.code) AND q.id > ?1 ORDER BY q.id LIMIT ?2"
    )
    private static let placesSQL = SQL("SELECT DISTINCT endpoint, game FROM lanes")

    /// Holds what belongs to a game or endpoint outside the configuration, and releases what came back. One step over
    /// the queue; returns whether there is more to do, and then the caller calls again with the same configuration.
    package func reconcile(games: Set<String>, endpoints names: Set<String>, now: ClockReading) throws(StoreError)
        -> Bool
    {
        if upkeep.games != games || upkeep.endpoints != names {
            (upkeep.games, upkeep.endpoints, upkeep.reconciled) = (games, names, 0)
        }
        var isConfigured: [Int64: Bool] = [:]
        for endpoint in try endpoints.all() { isConfigured[endpoint.number] = names.contains(endpoint.name) }
        let places = try database.rows(Self.placesSQL) { ($0.integer(0), $0.text(1)) }
        let isWhole = places.allSatisfy { isConfigured[$0.0] == true && games.contains($0.1) }
        // Where all is configured only what is held can have to be changed.
        let rows = try database.rows(
            isWhole ? Self.heldSQL : Self.walkSQL,
            [SQLValue(upkeep.reconciled), SQLValue(Self.reconciledPerStep)]
        ) { deliveries.queued($0) }
        for row in rows {
            let isKnown = isConfigured[row.id.endpoint] == true && games.contains(row.game)
            if isKnown == row.isUnconfigured { try setConfigured(isKnown, row.id, now: now) }
        }
        if isWhole { try takeBackPending(now: now) }
        let hasMore = rows.count == Self.reconciledPerStep
        upkeep.reconciled = hasMore ? rows.last?.id.number ?? 0 : 0
        return hasMore
    }

    /// What is in flight need not be held any more when it settles.
    private func takeBackPending(now: ClockReading) throws(StoreError) {
        for number in flights.deliveries { try setConfigured(true, DeliveryID(number), now: now) }
    }

    private func setConfigured(_ isConfigured: Bool, _ id: DeliveryID, now: ClockReading) throws(StoreError) {
        // Read again, because an earlier one of the step may have replaced it.
        guard var row = try deliveries.queued(id) else { return }
        if row.state == .sending {
            if isConfigured, row.pending != .unconfigured { return }
            if !isConfigured, row.pending != nil { return }
            row.pending = isConfigured ? nil : .unconfigured
            return try write(&row, from: .sending)
        }
        if isConfigured {
            guard row.state == .held, row.reason == .unconfigured else { return }
            try move(&row, to: .waiting, now: now)
            try settleStream(after: row, now: now)
        } else if row.state != .held {
            try move(&row, to: .held, reason: .unconfigured, now: now)
        }
    }
}

extension DeliveryRow {
    /// Whether it waits, or will wait, for its game or endpoint to be configured.
    fileprivate var isUnconfigured: Bool {
        (state == .held && reason == .unconfigured) || pending == .unconfigured
    }
}

/// How far long work that goes in turns has come; lost with a rollback, and then it begins again.
struct UpkeepCursor {
    /// The configuration that is being applied, and the last delivery that it was applied to.
    var games: Set<String> = []
    var endpoints: Set<String> = []
    var reconciled: Int64 = 0
    /// The last delivery that retention looked at.
    var retained: Int64 = 0
    /// The last hash of a client's id that retention looked at.
    var forgotten: [UInt8] = []
    /// The last delivery that was looked at to make room, and the users in whose receipts nothing was found.
    var shed: Int64 = 0
    var barren: Set<Int64> = []
    /// The player who is being erased.
    var forgetting: Forgetting?
    /// The last process that retention looked at.
    var origins: Int64 = 0
}
