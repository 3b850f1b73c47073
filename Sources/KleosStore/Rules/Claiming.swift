package import KleosModel
package import KleosSupport

extension Outbox {
    private static let freshSQL = SQL(
        """
        SELECT q.id, q.stream, q.ordered FROM queue q
        WHERE q.lane = ?1 AND q.weight = ?2 AND q.state = 1 AND q.due IS NULL AND q.id > ?3 ORDER BY q.id
        """)
    private static let dueSQL = SQL(
        """
        SELECT q.id, q.stream, q.ordered FROM queue q
        WHERE q.lane = ?1 AND q.weight = ?2 AND q.due IS NOT NULL AND q.due <= ?3 ORDER BY q.due, q.id
        """)
    private static let freshByStreamSQL = SQL(
        """
        SELECT q.id, q.stream, q.ordered, s.player, s.game, s.kind, s.item
        FROM queue q CROSS JOIN streams s ON s.id = q.stream
        WHERE q.lane = ?1 AND q.weight = ?2 AND q.state = 1 AND q.due IS NULL AND q.id > ?3 ORDER BY q.id
        """)
    private static let dueByStreamSQL = SQL(
        """
        SELECT q.id, q.stream, q.ordered, s.player, s.game, s.kind, s.item
        FROM queue q CROSS JOIN streams s ON s.id = q.stream
        WHERE q.lane = ?1 AND q.weight = ?2 AND q.due IS NOT NULL AND q.due <= ?3 ORDER BY q.due, q.id
        """)
    private static let anyInLaneSQL = SQL(
        """
        SELECT EXISTS(SELECT 1 FROM queue q WHERE q.lane = ?1 AND q.weight = ?2 AND q.state = 1 AND q.due IS NULL)
            OR EXISTS(SELECT 1 FROM queue q WHERE q.lane = ?1 AND q.weight = ?2 AND q.due IS NOT NULL)
        """)
    private static let forwardSQL = SQL(
        """
        SELECT q.id FROM queue q WHERE q.lane = ?1 AND q.weight = ?2 AND q.due IS NOT NULL AND q.due > ?3
        ORDER BY q.due DESC LIMIT ?4
        """)
    private static let setDueSQL = SQL("UPDATE queue SET due = ?2 WHERE id = ?1")

    /// What is not chosen although it is due: streams with a head in flight or chosen already, streams with too much in
    /// backoff, and what is throttled.
    private struct Exclusion {
        var players: Set<String>
        var boards: Set<BoardKey>
        var blocked: Set<Int64>
        var heads: Set<Int64> = []

        var isByStream: Bool { !players.isEmpty || !boards.isEmpty }

        /// Whether a row, whose stream's columns begin at 3, is throttled.
        func excludes(_ row: Statement) -> Bool {
            if players.contains(row.text(3)) { return true }
            guard !boards.isEmpty, let kind = SubjectKind.read(row, 5) else { return false }
            return boards.contains(BoardKey(game: row.text(4), kind: kind, item: row.text(6)))
        }
    }

    /// Takes at most `limit` deliveries that are due out of `endpoint`'s queue. Lanes take turns; in a lane the most
    /// important go first, and what was tried before takes turns with what is fresh. At most one of each stream that has
    /// a head. Players and boards are excluded where they are throttled.
    package func claim(
        endpoint: String, limit: Int, nowMilliseconds: Int64, excludingPlayers: Set<String> = [],
        excludingBoards: Set<BoardKey> = []
    ) throws(StoreError) -> [Claim] {
        guard limit > 0, let endpointID = try endpoints.id(endpoint) else { return [] }
        var exclusion = Exclusion(
            players: excludingPlayers, boards: excludingBoards, blocked: try streams.blockedStreams())
        var claims: [Claim] = []
        var open = try lanes(of: endpointID)
        while claims.count < limit, !open.isEmpty {
            let share = max(1, (limit - claims.count) / open.count)
            for lane in open where claims.count < limit {
                let wanted = min(share, limit - claims.count)
                let chosen = try choose(wanted, in: lane, &exclusion, nowMilliseconds: nowMilliseconds)
                for id in chosen {
                    if let claim = try claim(id, endpoint: endpoint, nowMilliseconds: nowMilliseconds) {
                        claims.append(claim)
                    }
                }
                if chosen.count < wanted { open.removeAll { $0 == lane } }
                if !chosen.isEmpty { turns.served(lane, endpoint: endpointID) }
            }
        }
        return claims
    }

    private func lanes(of endpoint: Int64) throws(StoreError) -> [Int64] {
        if let known = turns.lanes(of: endpoint) { return known }
        let read = try endpoints.lanes(of: endpoint)
        turns.set(read, endpoint: endpoint)
        return read
    }

    private func choose(
        _ wanted: Int, in lane: Int64, _ exclusion: inout Exclusion, nowMilliseconds: Int64
    ) throws(StoreError) -> [Int64] {
        var chosen: [Int64] = []
        // Also where there is one place at a time, as for a probe, both have their turns.
        let isRetryTurn = turns.takeRetryTurn(lane)
        for weight in 0...2 where chosen.count < wanted {
            let places = wanted - chosen.count
            let retries = try retries(places, lane, weight, &exclusion, nowMilliseconds: nowMilliseconds)
            // Half of the places is for what was tried before, half for what is fresh, where there is any.
            let kept = retries.prefix(isRetryTurn ? (places + 1) / 2 : places / 2)
            let fresh = try self.fresh(places - kept.count, lane, weight, &exclusion)
            chosen += kept + fresh
            chosen += retries.dropFirst(kept.count).prefix(places - kept.count - fresh.count)
        }
        return chosen
    }

    private func retries(
        _ wanted: Int, _ lane: Int64, _ weight: Int, _ exclusion: inout Exclusion, nowMilliseconds: Int64
    ) throws(StoreError) -> [Int64] {
        var chosen: [Int64] = []
        let values: [SQLValue] = [SQLValue(lane), SQLValue(weight), SQLValue(nowMilliseconds)]
        for (id, stream, isOrdered) in try open(values, exclusion, limit: wanted, isFresh: false) {
            if isOrdered, !exclusion.heads.insert(stream).inserted { continue }
            chosen.append(id)
        }
        return chosen
    }

    private func fresh(
        _ wanted: Int, _ lane: Int64, _ weight: Int, _ exclusion: inout Exclusion
    ) throws(StoreError) -> [Int64] {
        guard wanted > 0 else { return [] }
        var chosen: [Int64] = []
        let start = turns.cursor(lane: lane, weight: weight)
        let values: [SQLValue] = [SQLValue(lane), SQLValue(weight), SQLValue(start)]
        for (id, stream, isOrdered) in try open(
            values, exclusion, limit: wanted, isFresh: true,
            passing: { self.turns.pass($0, lane: lane, weight: weight) })
        {
            if isOrdered, !exclusion.heads.insert(stream).inserted { continue }
            chosen.append(id)
        }
        return chosen
    }

    /// Walks over the rows of `sql` and gives those that can go out. `pass` is told how far there is nothing that can,
    /// whatever is throttled.
    private func open(
        _ values: [SQLValue], _ exclusion: Exclusion, limit: Int, isFresh: Bool,
        passing pass: (Int64) -> Void = { _ in }
    ) throws(StoreError) -> [(id: Int64, stream: Int64, isOrdered: Bool)] {
        guard limit > 0 else { return [] }
        let isByStream = exclusion.isByStream
        let sql =
            switch (isFresh, isByStream) {
            case (true, false): Self.freshSQL
            case (true, true): Self.freshByStreamSQL
            case (false, false): Self.dueSQL
            case (false, true): Self.dueByStreamSQL
            }
        var isPassing = true
        var passed: Int64?
        var heads = exclusion.heads
        let walk = { [self] (row: Statement) -> (id: Int64, stream: Int64, isOrdered: Bool)? in
            let (id, stream, isOrdered) = (row.integer(0), row.integer(1), row.flag(2))
            let isStopped = flights.contains(id) || (isFresh && !isOrdered && exclusion.blocked.contains(stream))
            if isStopped, isPassing { passed = id } else { isPassing = false }
            if isByStream, exclusion.excludes(row) { return nil }
            if isStopped || (isOrdered && (flights.isHeadInFlight(stream) || heads.contains(stream))) { return nil }
            if isOrdered { heads.insert(stream) }
            return (id, stream, isOrdered)
        }
        let found = try database.rows(sql, values, limit: limit, read: walk)
        if let passed { pass(passed) }
        return found
    }

    private func claim(_ number: Int64, endpoint: String, nowMilliseconds: Int64) throws(StoreError) -> Claim? {
        guard let row = try deliveries.queued(DeliveryID(number)), row.state == .ready else { return nil }
        let event = try events.event(row.event)
        flights.board(number, head: row.isOrdered ? row.stream : 0, claimed: nowMilliseconds)
        if let letter = row.letter { flights.keep(letter, of: number) }
        changes.deliveries.append(
            DeliveryChange(
                key: row.key, endpoint: endpoint, game: row.game, player: row.player, uid: row.uid, from: .ready,
                to: .sending, reason: nil))
        return Claim(
            id: row.id, event: event,
            stream: StreamKey(
                endpoint: endpoint, game: event.game, player: event.player, kind: row.event.kind, item: row.event.item),
            confirms: row.confirms, attemptsMade: row.attempts, backoffAttempts: row.backoffAttempts,
            serverErrors: row.serverErrors,
            lastClaimedMilliseconds: row.attempts > 0 ? try deliveries.lastStarted(row.id) : nil,
            mayHaveTakenEffect: row.isUnanswered, rendering: row.letter, ignoresAge: row.ignoresAge,
            createdMilliseconds: event.recorded.wallMilliseconds)
    }

    /// Keeps the first rendering of a delivery that was just claimed; a later one changes nothing.
    package func saveRendering(_ bytes: [UInt8], for id: DeliveryID) throws(StoreError) {
        if try flights.letter(of: id.number) == nil { flights.keep(bytes, of: id.number) }
    }

    /// Returns a claimed delivery that was not sent, with its due time as it was; no attempt is recorded. What an
    /// operator decided about it meanwhile takes effect. Does nothing where it is not in flight.
    package func giveBack(_ id: DeliveryID, now: ClockReading) throws(StoreError) {
        guard var row = try deliveries.queued(id), row.state == .sending else { return }
        try putBack(&row, now: now)
    }

    /// Holds a claimed delivery that was not sent because its game is not in the configuration, until it is. What an
    /// operator decided about it meanwhile takes effect in place of that.
    package func holdUnconfigured(_ id: DeliveryID, now: ClockReading) throws(StoreError) {
        guard var row = try deliveries.queued(id), row.state == .sending else { return }
        row.pending = row.pending ?? .unconfigured
        try putBack(&row, now: now)
    }

    /// Returns what was in flight to its stream, or to where an operator wants it.
    func putBack(_ row: inout DeliveryRow, now: ClockReading) throws(StoreError) {
        switch row.pending {
        case .discard: return try giveUp(&row, as: .discarded, reason: nil, message: nil, now: now)
        case .hold: try move(&row, to: .held, reason: .operatorHold, now: now)
        case .unconfigured: try move(&row, to: .held, reason: .unconfigured, now: now)
        case nil: try move(&row, to: .ready, now: now)
        }
        if row.isOrdered { try settleStream(after: row, now: now) }
    }

    /// When the next delivery that can be claimed is due, Unix milliseconds; nil where there is none. What waits for
    /// another of its stream to come back is not counted.
    package func nextDueMilliseconds(
        endpoint: String, excludingPlayers: Set<String> = [], excludingBoards: Set<BoardKey> = []
    ) throws(StoreError) -> Int64? {
        guard let endpointID = try endpoints.id(endpoint) else { return nil }
        let exclusion = Exclusion(
            players: excludingPlayers, boards: excludingBoards, blocked: try streams.blockedStreams())
        var earliest: Int64?
        for lane in try lanes(of: endpointID) {
            var isEmpty = true
            for weight in 0...2 {
                let start = turns.cursor(lane: lane, weight: weight)
                let fresh = try open(
                    [SQLValue(lane), SQLValue(weight), SQLValue(start)], exclusion, limit: 1,
                    isFresh: true, passing: { self.turns.pass($0, lane: lane, weight: weight) })
                if let first = fresh.first {
                    return try events.row(DeliveryID(first.id).event)?.wall ?? 0
                }
                let due = try open(
                    [SQLValue(lane), SQLValue(weight), SQLValue(Int64.max)], exclusion, limit: 1,
                    isFresh: false)
                if let first = due.first, let row = try deliveries.queued(DeliveryID(first.id)), let due = row.due {
                    earliest = min(earliest ?? due, due)
                }
                if isEmpty { isEmpty = try database.integer(Self.anyInLaneSQL, SQLValue(lane), SQLValue(weight)) != 1 }
            }
            if isEmpty { turns.remove(lane, endpoint: endpointID) }
        }
        return earliest
    }

    /// Makes what is in backoff at `endpoint` due now, some of it a step. Returns whether there is more; then the
    /// caller calls again.
    package func bringForward(endpoint: String, nowMilliseconds: Int64) throws(StoreError) -> Bool {
        guard let endpointID = try endpoints.id(endpoint) else { return false }
        var left = Self.stepDeliveries
        for lane in try lanes(of: endpointID) {
            for weight in 0...2 where left > 0 {
                let ids = try database.rows(
                    Self.forwardSQL, [SQLValue(lane), SQLValue(weight), SQLValue(nowMilliseconds), SQLValue(left)]
                ) { $0.integer(0) }
                for id in ids { try database.run(Self.setDueSQL, SQLValue(id), SQLValue(nowMilliseconds)) }
                left -= ids.count
                if !ids.isEmpty { changes.readyEndpoints.insert(endpoint) }
            }
        }
        return left <= 0
    }
}
