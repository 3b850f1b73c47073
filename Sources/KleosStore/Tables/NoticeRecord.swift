import KleosModel

/// Something to tell a player, as the database keeps it.
struct NoticeRecord: Record {
    var number: Int64 = 0
    var key = EventKey(high: 0, low: 0)
    var game = ""
    var player = ""
    var uid: UInt32 = 0
    var kind = SubjectKind.score
    var item = ""
    /// Of user, game, player and item: whether they were told of it is asked for each confirmation.
    var hash: Int64 = 0
    var amount: Int64?
    var decimals: Decimals?
    var rank: Int64?
    var changed: Bool?
    var created: Int64 = 0
    var claimedBy: String?
    var claimed: Int64?
    var route: String?
    var shown: Int64?

    static let table = Table<NoticeRecord>(
        "notices", alias: "n",
        checks: ["(route IS NULL) = (shown IS NULL)", "(claimed_by IS NULL) = (claimed IS NULL)"],
        indexes: [
            "CREATE INDEX notices_pending ON notices(uid, number) WHERE shown IS NULL",
            "CREATE INDEX notices_hash ON notices(hash, key)",
            "CREATE INDEX notices_shown ON notices(shown) WHERE shown IS NOT NULL",
            "CREATE INDEX notices_claimed ON notices(number) WHERE claimed IS NOT NULL",
        ])

    mutating func visit(_ columns: inout some ColumnVisitor) {
        columns.key("number", &number)
        columns.column("key", &key, check: "length(key) = 16")
        columns.column("game", &game)
        columns.column("player", &player)
        columns.column("uid", &uid)
        columns.column("kind", &kind)
        columns.column("item", &item)
        columns.column("hash", &hash)
        columns.column("amount", &amount)
        columns.column("decimals", &decimals)
        columns.column("rank", &rank)
        columns.column("changed", &changed)
        columns.column("created", &created)
        columns.column("claimed_by", &claimedBy)
        columns.column("claimed", &claimed)
        columns.column("route", &route)
        columns.column("shown", &shown)
    }

    init() {}

    /// Makes the row of `notice`.
    init(_ notice: Notice) {
        number = notice.number
        key = notice.key
        game = notice.game
        player = notice.player
        uid = notice.uid
        kind = notice.facts.kind
        item = notice.facts.item
        hash = Self.hash(uid: uid, game: game, player: player, kind: kind, item: item)
        amount = notice.facts.value?.units
        decimals = (notice.facts.value?.decimals).map(Decimals.init)
        rank = notice.facts.rank
        changed = notice.facts.changed
        created = notice.createdMilliseconds
        shown = notice.shownMilliseconds
        route = notice.route
    }

    /// The notice.
    var notice: Notice {
        let value = amount.map { ScoreValue(units: $0, decimals: decimals?.count ?? 0) }
        return Notice(
            number: number, key: key, game: game, player: player, uid: uid,
            facts: NoticeFacts(kind: kind, item: item, value: value, rank: rank, changed: changed),
            createdMilliseconds: created, shownMilliseconds: shown, route: route)
    }

    /// What finds notices about the same.
    static func hash(uid: UInt32, game: String, player: String, kind: SubjectKind, item: String) -> Int64 {
        KeyHash.number(Int64(uid), [game, player, kind.rawValue, item])
    }
}
