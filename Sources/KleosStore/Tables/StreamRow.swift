import KleosModel

/// A stream with its standing, its contest and its lane.
struct StreamRow: Record {
    var number: Int64 = 0
    /// Finds the row; the full key decides.
    var hash: Int64 = 0
    var endpoint: Int64 = 0
    var lane: Int64 = 0
    var game = ""
    var player = ""
    var kind = SubjectKind.score
    var item = ""
    var confirmedMeasure: StoredMeasure.Kind?
    var confirmedAmount: Int64?
    var confirmedDecimals: Decimals?
    var confirmedAt: Int64?
    var confirmedRank: Int64?
    var pendingMeasure: StoredMeasure.Kind?
    var pendingAmount: Int64?
    var pendingDecimals: Decimals?
    var pendingAt: Int64?
    /// The contest that goes on; what gave way in an earlier one did so for good.
    var round: Int64 = 0
    /// The best that was confirmed in this round; what is no better gave way for good.
    var settledWorth: [UInt8]?
    /// The delivery that was confirmed last.
    var winner: Int64?
    /// Whether something that gave way may have unlocked what the player was not told of since.
    var isUntold = false
    /// How many deliveries of a stream without a head are in backoff.
    var inBackoff: Int64 = 0

    /// So many deliveries of a stream may be in backoff; then the stream waits for them. It bounds what a broken board
    /// asks of its service.
    static let maximumInBackoff: Int64 = 64

    static let table = Table<StreamRow>(
        "streams", alias: "s",
        indexes: [
            "CREATE INDEX streams_hash ON streams(hash)",
            "CREATE INDEX streams_player ON streams(player, id)",
            "CREATE INDEX streams_blocked ON streams(id) WHERE in_backoff >= \(maximumInBackoff)",
        ])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number)
        columns.column("hash", &hash)
        columns.column("endpoint", &endpoint)
        columns.column("lane", &lane)
        columns.column("game", &game)
        columns.column("player", &player)
        columns.column("kind", &kind)
        columns.column("item", &item)
        columns.column("confirmed_measure", &confirmedMeasure)
        columns.column("confirmed_amount", &confirmedAmount)
        columns.column("confirmed_decimals", &confirmedDecimals)
        columns.column("confirmed_at", &confirmedAt)
        columns.column("confirmed_rank", &confirmedRank)
        columns.column("pending_measure", &pendingMeasure)
        columns.column("pending_amount", &pendingAmount)
        columns.column("pending_decimals", &pendingDecimals)
        columns.column("pending_at", &pendingAt)
        columns.column("round", &round)
        columns.column("settled_worth", &settledWorth)
        columns.column("winner", &winner)
        columns.column("untold", &isUntold)
        columns.column("in_backoff", &inBackoff, check: "in_backoff >= 0")
    }

    /// What the endpoint confirmed.
    var confirmed: StandingMark? {
        get { Self.mark(confirmedMeasure, confirmedAmount, confirmedDecimals, confirmedAt, confirmedRank) }
        set {
            let stored = newValue.map { StoredMeasure($0.measure) }
            confirmedMeasure = stored?.kind
            confirmedAmount = stored?.amount
            confirmedDecimals = (stored?.decimals).map(Decimals.init)
            confirmedAt = newValue?.atMilliseconds
            confirmedRank = newValue?.rank
        }
    }

    /// What is on its way and better than that.
    var pending: StandingMark? {
        get { Self.mark(pendingMeasure, pendingAmount, pendingDecimals, pendingAt, nil) }
        set {
            let stored = newValue.map { StoredMeasure($0.measure) }
            pendingMeasure = stored?.kind
            pendingAmount = stored?.amount
            pendingDecimals = (stored?.decimals).map(Decimals.init)
            pendingAt = newValue?.atMilliseconds
        }
    }

    private static func mark(
        _ kind: StoredMeasure.Kind?, _ amount: Int64?, _ decimals: Decimals?, _ at: Int64?, _ rank: Int64?
    ) -> StandingMark? {
        guard let kind, let amount, let decimals else { return nil }
        return StoredMeasure(kind: kind, amount: amount, decimals: decimals.count).measure.map {
            StandingMark(measure: $0, atMilliseconds: at ?? 0, rank: rank)
        }
    }

    /// The board or achievement.
    var board: BoardKey { BoardKey(game: game, kind: kind, item: item) }
}

/// A part of an endpoint that can fail, wait, be throttled or refused by itself: one submitting user's game there, or
/// one player's sign-in.
struct LaneRow: Record {
    var number: Int64 = 0
    var endpoint: Int64 = 0
    var game = ""
    var uid: UInt32 = 0
    /// Nil where the endpoint does not sign in per player.
    var player: String?
    /// The sign-in that its deliveries go out with.
    var account: String?
    var condition: Int64 = 0
    var reason: String?
    var since: Int64?
    /// Failures without a success between them.
    var failures = 0
    /// Rounds of backoff.
    var rounds = 0
    var throttledUntil: Int64?
    var throttleBootID: String?

    static let table = Table<LaneRow>(
        "lanes", alias: "l",
        indexes: ["CREATE UNIQUE INDEX lanes_place ON lanes(endpoint, game, uid, player)"])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("id", &number)
        columns.column("endpoint", &endpoint)
        columns.column("game", &game)
        columns.column("uid", &uid)
        columns.column("player", &player)
        columns.column("account", &account)
        columns.column("condition", &condition)
        columns.column("reason", &reason)
        columns.column("since", &since)
        columns.column("failures", &failures)
        columns.column("rounds", &rounds)
        columns.column("throttled_until", &throttledUntil)
        columns.column("throttle_boot_id", &throttleBootID)
    }
}
