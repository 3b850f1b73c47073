import KleosModel

/// The rules of a stream: who is at its head, who replaces whom, who comes back.
extension Outbox {
    /// So many deliveries of a stream that is not strict may be in backoff; then the stream waits for them. It bounds
    /// what a choice has to pass over while another delivery of the stream is in flight.
    static let maximumInBackoff: Int64 = 64

    /// A due time further ahead than this comes from a wrong clock.
    static let maximumDelayMilliseconds = RetryPolicy.maximumRetryAfterMilliseconds * 11 / 10

    /// What decides whether the next delivery of a stream may become ready.
    struct StreamSituation {
        var isSending: Bool
        var ready: Int64
        var inBackoff: Int64

        /// Whether a waiting delivery may become ready.
        func admits(isStrict: Bool) -> Bool {
            !isSending && ready == inBackoff && inBackoff < (isStrict ? 1 : maximumInBackoff)
        }
    }

    /// Reads what decides about the next delivery of `stream`.
    func situation(of stream: Int64) throws(StoreError) -> StreamSituation {
        let situation = try database.first(
            """
            SELECT EXISTS(SELECT 1 FROM deliveries WHERE stream = ?1 AND state = 'sending'), count(*),
                coalesce(sum(backoff), 0)
            FROM deliveries WHERE stream = ?1 AND state = 'ready' AND settled IS NULL
            """, SQLValue(stream)
        ) { StreamSituation(isSending: $0.flag(0), ready: $0.integer(1), inBackoff: $0.integer(2)) }
        return situation ?? StreamSituation(isSending: false, ready: 0, inBackoff: 0)
    }

    /// Whether an earlier delivery of a strict stream is held, which stops those behind it.
    func isStoppedByHeld(stream: Int64, before id: Int64) throws(StoreError) -> Bool {
        try database.integer(
            """
            SELECT 1 FROM deliveries WHERE stream = ?1 AND state = 'held' AND settled IS NULL AND id < ?2 LIMIT 1
            """, SQLValue(stream), SQLValue(id)) != nil
    }

    // Kept whole, because putting them together again would cost as much as executing them.
    private static let nextWaitingSQL = """
        \(DeliveryRow.select)
        WHERE d.stream = ?1 AND d.state = 'waiting' AND d.settled IS NULL ORDER BY d.id LIMIT 1
        """
    private static let mergeableSQL = """
        \(DeliveryRow.select)
        WHERE d.stream = ?1 AND d.state IN ('waiting', 'ready', 'sending') AND d.settled IS NULL AND d.merge != 0
        ORDER BY d.id
        """

    /// Makes the next waiting delivery of `stream` ready, if the stream's situation admits one.
    func promote(_ stream: Int64, nowMilliseconds: Int64) throws(StoreError) {
        let next = try database.first(Self.nextWaitingSQL, SQLValue(stream)) { DeliveryRow($0) }
        guard var next, try situation(of: stream).admits(isStrict: next.isStrict) else { return }
        if next.isStrict, try isStoppedByHeld(stream: stream, before: next.id.number) { return }
        next.dueMilliseconds = min(next.dueMilliseconds, nowMilliseconds + Self.maximumDelayMilliseconds)
        try move(&next, to: .ready, nowMilliseconds: nowMilliseconds)
    }

    /// Replaces what a better or newer delivery of the stream makes needless; what is in flight stays. Then promotes.
    func settleStream(_ stream: Int64, nowMilliseconds: Int64) throws(StoreError) {
        try coalesce(stream, nowMilliseconds: nowMilliseconds)
        try promote(stream, nowMilliseconds: nowMilliseconds)
    }

    /// As `settleStream`, after `row` left the flight: what was ready behind it can be claimed from now on, though it
    /// did not change itself, and whoever claims is told.
    func settleStream(after row: DeliveryRow, nowMilliseconds: Int64) throws(StoreError) {
        try settleStream(row.stream, nowMilliseconds: nowMilliseconds)
        let ready = try database.integer(
            "SELECT 1 FROM deliveries WHERE stream = ?1 AND state = 'ready' AND settled IS NULL LIMIT 1",
            SQLValue(row.stream))
        if ready != nil { effects.changes.readyEndpoints.insert(try endpointName(row.endpoint)) }
    }

    /// The deliveries of `stream` that can replace each other, in order; the one in flight included.
    func mergeable(_ stream: Int64) throws(StoreError) -> [DeliveryRow] {
        try database.rows(Self.mergeableSQL, [SQLValue(stream)]) { DeliveryRow($0) }
    }

    private func coalesce(_ stream: Int64, nowMilliseconds: Int64) throws(StoreError) {
        var peers = try mergeable(stream)
        try suppressWorseThanConfirmed(&peers, stream: stream, nowMilliseconds: nowMilliseconds)
        while var winner = Self.winner(of: peers) {
            let isLoser: (DeliveryRow) -> Bool = { peer in
                peer.id != winner.id && peer.state != .sending && Self.isReplaced(peer, by: winner)
            }
            var losers = peers.filter(isLoser)
            try replace(&losers, by: &winner, nowMilliseconds: nowMilliseconds)
            peers.removeAll { $0.id == winner.id || isLoser($0) }
        }
    }

    /// What stays of `peers`: under Keep=latest the last, else the best of all that are comparable with the first, the
    /// earlier of equals; nil where there are none.
    private static func winner(of peers: [DeliveryRow]) -> DeliveryRow? {
        guard var winner = peers.first else { return nil }
        for peer in peers.dropFirst() where isReplaced(winner, by: peer) { winner = peer }
        return winner
    }

    /// Whether `new` makes `old` needless; `old` stays on a tie if it is the earlier.
    static func isReplaced(_ old: DeliveryRow, by new: DeliveryRow) -> Bool {
        switch new.merge {
        case .none: return false
        case .latest: return new.id > old.id
        case .best(let order):
            guard let left = new.measure, let right = old.measure, MergeOrder.areComparable(left, right) else {
                return false
            }
            if MergeOrder.isBetter(left, than: right, order) { return true }
            return !MergeOrder.isBetter(right, than: left, order) && new.id < old.id
        }
    }

    /// Lets `winner` take the place of `losers`, and their due time and backoff if one of them was ready.
    func replace(
        _ losers: inout [DeliveryRow], by winner: inout DeliveryRow, nowMilliseconds: Int64
    ) throws(StoreError) {
        var head: DeliveryRow?
        for index in losers.indices {
            if losers[index].state == .ready, losers[index].dueMilliseconds >= head?.dueMilliseconds ?? .min {
                head = losers[index]
            }
            losers[index].supersededBy = winner.id
            try move(&losers[index], to: .superseded, nowMilliseconds: nowMilliseconds)
        }
        guard let head, winner.state == .waiting || winner.state == .ready else { return }
        let isReady = winner.state == .ready
        winner.dueMilliseconds = isReady ? max(winner.dueMilliseconds, head.dueMilliseconds) : head.dueMilliseconds
        winner.inheritedAttempts = max(winner.backoffAttempts, head.backoffAttempts) - winner.attempts
        winner.isInBackoff = winner.isInBackoff || head.isInBackoff
        try move(&winner, to: .ready, nowMilliseconds: nowMilliseconds)
    }

    /// Where the last write wins, what is worse than the confirmed standing would undo it.
    private func suppressWorseThanConfirmed(
        _ peers: inout [DeliveryRow], stream: Int64, nowMilliseconds: Int64
    ) throws(StoreError) {
        guard peers.contains(where: \.isStrict), let confirmed = try confirmedMeasure(of: stream) else { return }
        for index in peers.indices.reversed() where peers[index].state != .sending && peers[index].isStrict {
            guard case .best(let order) = peers[index].merge, let measure = peers[index].measure,
                MergeOrder.areComparable(measure, confirmed),
                MergeOrder.isBetter(confirmed, than: measure, order)
            else { continue }
            try move(&peers[index], to: .superseded, reason: .standing, nowMilliseconds: nowMilliseconds)
            peers.remove(at: index)
        }
    }

    /// Brings the best of what `superseder` had replaced back, now that it ended without a confirmation. The others
    /// that it replaced then count as replaced by the one that came back. In a clone it comes back to what is held.
    func restoreSuperseded(by superseder: DeliveryRow, nowMilliseconds: Int64) throws(StoreError) {
        let replaced = try database.rows(
            "\(DeliveryRow.select) WHERE d.superseded_by = ?1 ORDER BY d.id", [SQLValue(superseder.id.number)]
        ) { DeliveryRow($0) }
        guard var best = Self.winner(of: replaced) else { return }
        try database.run(
            "UPDATE deliveries SET superseded_by = ?2 WHERE superseded_by = ?1 AND id != ?2 AND state = 'superseded'",
            SQLValue(superseder.id.number), SQLValue(best.id.number))
        let isHeld = try isCopied(best.event)
        try move(&best, to: isHeld ? .held : .waiting, reason: isHeld ? .clone : nil, nowMilliseconds: nowMilliseconds)
    }

    /// Ends `row` without a confirmation, brings back what it had replaced, and lets its stream go on.
    func giveUp(
        _ row: inout DeliveryRow, as state: DeliveryState, reason: DeliveryReason?, message: String?,
        nowMilliseconds: Int64
    ) throws(StoreError) {
        try move(&row, to: state, reason: reason, message: message, nowMilliseconds: nowMilliseconds)
        try restoreSuperseded(by: row, nowMilliseconds: nowMilliseconds)
        try settleStream(after: row, nowMilliseconds: nowMilliseconds)
        try refreshPendingMark(of: row.stream)
    }
}
