import KleosModel

extension DeliveryState {
    /// Whether the delivery is what its user is owed: not yet at its service, or dead with nobody having decided.
    var isOwed: Bool { isUnsettled || self == .dead }
}

/// How much room each user takes: counted as deliveries come and go, so that asking costs nothing. What is owed is
/// counted apart from receipts, which make room when it is needed.
///
/// What a delivery takes is reckoned from its event's length and not measured, so that adding it and taking it away
/// give the same. The constants are above what rows, their indexes and a few attempts were measured to take.
extension Outbox {
    private static let deliveryBytes: Int64 = 256

    /// Counts a delivery that comes (1) or goes (-1).
    func account(_ row: DeliveryRow, _ sign: Int64) {
        counters.add(
            sign * Self.bytes(of: row), to: row.state.isOwed ? .owedBytes(of: row.uid) : .receiptBytes(of: row.uid))
        if row.state == .dead { countDead(row, sign) }
    }

    /// About what a delivery takes, its event included.
    static func bytes(of row: DeliveryRow) -> Int64 { deliveryBytes + row.event.approximateBytes }

    /// Counts a delivery that dies (1) or is dead no more (-1).
    func countDead(_ row: DeliveryRow, _ sign: Int64) {
        counters.add(sign, to: Self.deadKey(row.uid, row.board))
        counters.add(sign, to: CounterKey(kind: .deadOfUser, first: Int64(row.uid)))
    }

    private static func deadKey(_ uid: UInt32, _ board: BoardKey) -> CounterKey {
        CounterKey(
            kind: .deadOfItem, first: Int64(uid),
            second: KeyHash.number(0, [board.game, board.kind.rawValue, board.item]))
    }

    /// Why no more events of `uid` about `board` are taken; nil where there is room.
    func reasonToRefuse(uid: UInt32, board: BoardKey) throws(StoreError) -> String? {
        let used = try counters.value(.owedBytes(of: uid))
        if used >= options.maximumBytesPerUser {
            return "the undelivered and dead events of user \(uid) use \(used) of the "
                + "\(options.maximumBytesPerUser) bytes that MaximumSharePerUser= leaves to one user; they make room "
                + "when they are delivered, or discarded"
        }
        let dead = try counters.value(Self.deadKey(uid, board))
        guard dead >= Int64(options.maximumDeadPerItem) else { return nil }
        return "\(dead) events of user \(uid) about \(board.item) are dead, the most that are kept for one board or "
            + "achievement; find out why (kleos list --dead), then retry or discard them"
    }

    /// About what the events of `uid` take, receipts included.
    func usedBytes(of uid: UInt32) throws(StoreError) -> Int64 {
        try counters.value(.owedBytes(of: uid)) + counters.value(.receiptBytes(of: uid))
    }

    /// What the events of `uid` take, and for nil those of the users with the most, the greatest first.
    package func users(visibleTo uid: UInt32?, limit: Int) throws(StoreError) -> [UserShare] {
        if let uid { return [UserShare(uid: uid, usedBytes: try usedBytes(of: uid))] }
        var bytes: [UInt32: Int64] = [:]
        for kind in [CounterKey.Kind.owedBytes, .receiptBytes] {
            for (key, count) in try counters.all(kind) {
                bytes[UInt32(truncatingIfNeeded: key.first), default: 0] += count
            }
        }
        let shares = bytes.filter { $0.value > 0 }.map { UserShare(uid: $0.key, usedBytes: $0.value) }
        return Array(shares.sorted { ($1.usedBytes, $0.uid) < ($0.usedBytes, $1.uid) }.prefix(limit))
    }
}
