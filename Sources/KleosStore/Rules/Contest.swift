import KleosModel
import KleosSupport

/// The rules of a stream with a head: who is at it, who replaces whom, who comes back.
///
/// What gave way names its contest: the stream and the round. A round ends when nothing of the stream is under way any
/// more. In it, what gave way is worth no more than something that is under way or was confirmed; so when something
/// ends without a confirmation, at most the best of what gave way comes back.
extension Outbox {
    /// A due time further ahead than this comes from a wrong clock.
    static let maximumDelayMilliseconds = RetryPolicy.maximumRetryAfterMilliseconds * 11 / 10

    /// What decides whether the next delivery of a stream may become ready.
    struct StreamSituation {
        var isSending = false
        var ready = 0
        var inBackoff = 0

        /// Whether a waiting delivery may become ready.
        func admits(isStrict: Bool) -> Bool {
            !isSending && ready == inBackoff && inBackoff < (isStrict ? 1 : Int(StreamRow.maximumInBackoff))
        }
    }

    private static let readySQL = SQL(
        "SELECT q.id, q.due FROM queue q WHERE q.stream = ?1 AND q.state = 1 AND q.ordered = 1")
    private static let heldBeforeSQL = SQL(
        "SELECT 1 FROM queue WHERE stream = ?1 AND state = 2 AND ordered = 1 AND id < ?2 LIMIT 1")
    private static let firstWaitingSQL = SQL(
        "\(Deliveries.selectQueue) WHERE q.stream = ?1 AND q.state = 0 AND q.ordered = 1 ORDER BY q.id LIMIT 1")
    private static let underWaySQL = SQL("\(Deliveries.selectQueue) WHERE q.stream = ?1 AND q.ordered = 1")
    private static let anyUnderWaySQL = SQL("SELECT 1 FROM queue WHERE stream = ?1 AND ordered = 1 LIMIT 1")
    private static let bestSQL = SQL(
        """
        \(Deliveries.selectDone)
        WHERE d.stream = ?1 AND d.round = ?2 AND d.worth >= ?3 AND d.worth < ?4 AND d.round IS NOT NULL AND d.id > ?5
        ORDER BY d.worth DESC, d.id LIMIT 1
        """)

    /// Reads what decides about the next delivery of `stream`.
    func situation(of stream: Int64) throws(StoreError) -> StreamSituation {
        var situation = StreamSituation()
        for (id, due) in try database.rows(Self.readySQL, [SQLValue(stream)], read: { ($0.integer(0), $0.isNull(1)) }) {
            if flights.contains(id) {
                situation.isSending = true
            } else {
                situation.ready += 1
                if !due { situation.inBackoff += 1 }
            }
        }
        return situation
    }

    /// Whether an earlier delivery of a strict stream is held, which stops those behind it.
    func isStoppedByHeld(stream: Int64, before id: Int64) throws(StoreError) -> Bool {
        try database.integer(Self.heldBeforeSQL, SQLValue(stream), SQLValue(id)) != nil
    }

    /// The first delivery that waits in a stream.
    func firstWaiting(_ stream: Int64) throws(StoreError) -> DeliveryRow? {
        try database.first(Self.firstWaitingSQL, SQLValue(stream)) { deliveries.queued($0) }
    }

    /// Makes the next waiting delivery of `stream` ready, if the stream's situation admits one.
    func promote(_ stream: Int64, now: ClockReading) throws(StoreError) {
        guard var next = try firstWaiting(stream), try situation(of: stream).admits(isStrict: next.isStrict) else {
            return
        }
        if next.isStrict, try isStoppedByHeld(stream: stream, before: next.id.number) { return }
        try move(&next, to: .ready, now: now)
    }

    /// What of a stream with a head is under way, held included, in order.
    func underWay(_ stream: Int64) throws(StoreError) -> [DeliveryRow] {
        try database.rows(Self.underWaySQL, [SQLValue(stream)]) { deliveries.queued($0) }.sorted { $0.id < $1.id }
    }

    /// The deliveries of `stream` that can replace each other, in order; the one in flight included.
    func mergeable(_ stream: Int64) throws(StoreError) -> [DeliveryRow] {
        try underWay(stream).filter { $0.merge != .none && $0.state != .held }
    }

    /// Replaces what a better or newer delivery of the stream makes needless; what is in flight stays. Then promotes,
    /// and ends the round where nothing is left.
    func settleStream(_ stream: Int64, now: ClockReading) throws(StoreError) {
        try coalesce(stream, now: now)
        try promote(stream, now: now)
        try endRound(stream)
    }

    /// As `settleStream`, after `row` changed. What was ready behind it can be claimed from now on, though it did not
    /// change itself, and whoever claims is told.
    func settleStream(after row: DeliveryRow, now: ClockReading) throws(StoreError) {
        guard row.isOrdered else { return try promoteUnordered(row, now: now) }
        try settleStream(row.stream, now: now)
        if try database.first(Self.readySQL, SQLValue(row.stream), read: { _ in true }) != nil {
            changes.readyEndpoints.insert(try endpoints.name(row.id.endpoint))
            // Cursors pass by nothing of a stream with a head but what is in flight, and that wakes by itself.
            turns.wake(lane: try deliveries.lane(of: row.stream), endpoint: row.id.endpoint)
        }
    }

    /// Where there is no head, nothing waits.
    private func promoteUnordered(_ row: DeliveryRow, now: ClockReading) throws(StoreError) {
        guard var waiting = try deliveries.queued(row.id), waiting.state == .waiting else { return }
        try move(&waiting, to: .ready, now: now)
    }

    private func coalesce(_ stream: Int64, now: ClockReading) throws(StoreError) {
        var peers = try mergeable(stream)
        guard !peers.isEmpty else { return }
        let row = try streams.named(stream)
        try suppressWorseThanConfirmed(&peers, row, now: now)
        while var winner = Self.winner(of: peers) {
            let isLoser: (DeliveryRow) -> Bool = { peer in
                peer.id != winner.id && peer.state != .sending && Self.isReplaced(peer, by: winner)
            }
            var losers = peers.filter(isLoser)
            try replace(&losers, by: &winner, round: row.round, now: now)
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
        _ losers: inout [DeliveryRow], by winner: inout DeliveryRow, round: Int64, now: ClockReading
    ) throws(StoreError) {
        var head: DeliveryRow?
        for index in losers.indices {
            if losers[index].state == .ready, losers[index].due ?? .min >= head?.due ?? .min { head = losers[index] }
            if try mayHaveUnlocked(losers[index]) { try streams.setUntold(true, of: losers[index].stream) }
            losers[index].superseder = winner.id.number
            losers[index].round = round
            try move(&losers[index], to: .superseded, now: now)
        }
        guard let head, winner.state == .waiting || winner.state == .ready else { return }
        winner.due = [winner.due, head.due].compactMap(\.self).max()
        winner.inherited = max(winner.backoffAttempts, head.backoffAttempts) - winner.attempts
        try move(&winner, to: .ready, now: now)
    }

    /// Where the last write wins, what is worse than the confirmed standing would undo it.
    private func suppressWorseThanConfirmed(
        _ peers: inout [DeliveryRow], _ stream: StreamRow, now: ClockReading
    ) throws(StoreError) {
        guard peers.contains(where: \.isStrict), let confirmed = stream.confirmed?.measure else { return }
        for index in peers.indices.reversed() where peers[index].state != .sending && peers[index].isStrict {
            guard case .best(let order) = peers[index].merge, let measure = peers[index].measure,
                MergeOrder.areComparable(measure, confirmed),
                MergeOrder.isBetter(confirmed, than: measure, order)
            else { continue }
            try move(&peers[index], to: .superseded, reason: .standing, now: now)
            peers.remove(at: index)
        }
    }

    /// Brings the best of what gave way back, unless something as good is under way or was confirmed. In a clone it
    /// comes back to what is held. With `event` only what was recorded after it.
    func bringBackBest(_ stream: Int64, recordedAfter event: Int64 = 0, now: ClockReading) throws(StoreError) {
        let row = try streams.named(stream)
        let after = DeliveryNumber.range(event: event).upperBound
        for kind in Worth.kinds {
            let best = try database.first(
                Self.bestSQL, SQLValue(stream), SQLValue(row.round), .blob([kind]), .blob([kind + 1]),
                SQLValue(event == 0 ? 0 : after)
            ) { deliveries.done($0) }
            guard var best, let worth = best.worth else { continue }
            if let settled = row.settledWorth, Worth.covers(settled, worth) == true { continue }
            let isCovered = try underWay(stream).contains { other in
                other.worth.flatMap { Worth.covers($0, worth) } == true
            }
            if isCovered { continue }
            let isHeld = try isCopied(best.event.number)
            try move(&best, to: isHeld ? .held : .waiting, reason: isHeld ? .clone : nil, now: now)
        }
    }

    /// Ends the round of a stream in which nothing is under way: what gave way in it did so for good.
    func endRound(_ stream: Int64) throws(StoreError) {
        guard try database.integer(Self.anyUnderWaySQL, SQLValue(stream)) == nil else { return }
        var row = try streams.named(stream)
        guard try hasContest(row) || row.settledWorth != nil else { return }
        row.endRound()
        try streams.write(row)
    }

    private static let contestSQL = SQL(
        "SELECT 1 FROM done WHERE stream = ?1 AND round = ?2 AND round IS NOT NULL LIMIT 1")

    /// Whether anything gave way in the stream's present round.
    func hasContest(_ stream: StreamRow) throws(StoreError) -> Bool {
        try database.integer(Self.contestSQL, SQLValue(stream.number), SQLValue(stream.round)) != nil
    }

    /// Ends `row` without a confirmation, brings back what it had replaced, and lets its stream go on.
    func giveUp(
        _ row: inout DeliveryRow, as state: DeliveryState, reason: DeliveryReason?, message: String?, now: ClockReading
    ) throws(StoreError) {
        try move(&row, to: state, reason: reason, message: message, now: now)
        guard row.isOrdered else { return }
        try bringBackBest(row.stream, now: now)
        try settleStream(after: row, now: now)
        try refreshPendingMark(of: row.stream)
    }

    /// Whether what a delivery gave way to did so for good: it was confirmed, or the contest is over.
    func isReplacedForGood(_ row: DeliveryRow, in stream: StreamRow) -> Bool {
        guard row.state == .superseded else { return false }
        guard let round = row.round, round == stream.round, let worth = row.worth else { return true }
        return stream.settledWorth.flatMap { Worth.covers($0, worth) } == true
    }
}

extension StreamRow {
    /// Begins the next round.
    mutating func endRound() {
        round += 1
        settledWorth = nil
    }

    /// Notes down that `row` was confirmed.
    mutating func settle(_ row: DeliveryRow) {
        winner = row.id.number
        guard let worth = row.worth else { return }
        if let settled = settledWorth, Worth.covers(settled, worth) == true { return }
        settledWorth = worth
    }
}
