package import KleosModel
package import KleosSupport

extension Outbox {
    private static let list = NoticeRecord.table.list
    private static let allSQL = SQL("SELECT \(list) FROM notices n WHERE n.number > ?1 ORDER BY n.number LIMIT ?2")
    private static let pendingOfUserSQL = SQL(
        """
        SELECT \(list) FROM notices n WHERE n.uid = ?3 AND n.shown IS NULL AND n.number > ?1
        ORDER BY n.number LIMIT ?2
        """)
    private static let claimSQL = SQL(
        "UPDATE notices SET claimed_by = ?2, claimed = ?3 WHERE number = ?1 AND shown IS NULL")
    private static let nextUserSQL = SQL("SELECT min(uid) FROM notices WHERE uid > ?1 AND shown IS NULL")
    private static let newestPendingSQL = SQL(
        "SELECT max(number) FROM notices WHERE uid = ?1 AND shown IS NULL")
    private static let acknowledgeSQL = SQL(
        """
        UPDATE notices SET shown = ?4, route = ?2, claimed_by = NULL, claimed = NULL
        WHERE number = ?1 AND uid = ?3 AND shown IS NULL
        """)
    private static let returnSQL = SQL(
        """
        UPDATE notices SET claimed_by = NULL, claimed = NULL
        WHERE number = ?1 AND uid = ?3 AND claimed_by = ?2 AND shown IS NULL
        """)
    private static let settleSQL = SQL(
        """
        UPDATE notices SET route = ?2, shown = ?3, claimed_by = NULL, claimed = NULL
        WHERE number IN (SELECT number FROM notices WHERE uid = ?4 AND shown IS NULL AND number <= ?1 LIMIT ?5)
        """)
    private static let forgetClaimsSQL = SQL(
        "UPDATE notices SET claimed_by = NULL, claimed = NULL WHERE claimed IS NOT NULL")
    private static let toldSQL = SQL("SELECT \(list) FROM notices n WHERE n.hash = ?1 LIMIT 64")
    private static let aboutSQL = SQL("SELECT 1 FROM notices WHERE hash = ?1 AND key = ?2")
    /// How many notices one turn looks at.
    private static let noticesPerTurn = 2_000

    /// Adds a notice, with the number that it has.
    func add(_ notice: Notice) throws(StoreError) {
        try database.insert(NoticeRecord(notice))
        counters.add(max(0, notice.number - (try counters.value(.lastNotice))), to: .lastNotice)
        if notice.shownMilliseconds == nil { counters.add(1, to: .pendingNotices) }
    }

    /// Whether the user was told of this before, or will be.
    func wasTold(_ facts: NoticeFacts, to row: DeliveryRow) throws(StoreError) -> Bool {
        let hash = NoticeRecord.hash(
            uid: row.uid, game: row.game, player: row.player, kind: facts.kind, item: facts.item)
        let found = try database.rows(Self.toldSQL, [SQLValue(hash)]) { NoticeRecord.table.read($0) }
        return found.contains {
            $0.uid == row.uid && ExactText.same($0.game, row.game) && ExactText.same($0.player, row.player)
                && $0.kind == facts.kind && ExactText.same($0.item, facts.item)
        }
    }

    /// Whether there is a notice about the same event.
    func hasNotice(about notice: Notice) throws(StoreError) -> Bool {
        try database.integer(Self.aboutSQL, SQLValue(NoticeRecord(notice).hash), notice.key.stored) != nil
    }

    /// Notices in the order of their numbers: what one turn finds, and the number to go on after; nil after the last.
    package func notices(_ query: NoticeQuery) throws(StoreError) -> (notices: [Notice], next: Int64?) {
        var values = [SQLValue(query.afterNumber), SQLValue(Self.noticesPerTurn)]
        var sql = Self.allSQL
        if let uid = query.uid, query.isPendingOnly {
            values.append(SQLValue(uid))
            sql = Self.pendingOfUserSQL
        }
        let rows = try database.rows(sql, values) { NoticeRecord.table.read($0) }
        var found: [Notice] = []
        for row in rows {
            if query.isPendingOnly, row.shown != nil { continue }
            if let uid = query.uid, uid != row.uid { continue }
            if let game = query.game, !ExactText.same(game, row.game) { continue }
            if let player = query.player, !ExactText.same(player, row.player) { continue }
            found.append(row.notice)
            if found.count == query.limit { return (found, row.number) }
        }
        return (found, rows.count == Self.noticesPerTurn ? rows.last?.number : nil)
    }

    /// Hands at most `limit` of a user's notices to `route`, the oldest first: those that nobody was shown and that no
    /// route holds. A route holds what it claimed until it acknowledges or returns it, until the time-out, or until
    /// the daemon starts again. `scope` narrows what is handed out.
    package func claimNotices(
        route: String, uid: UInt32, scope: NoticeScope = NoticeScope(), limit: Int,
        claimTimeoutMilliseconds: Int64 = 60_000, now: ClockReading
    ) throws(StoreError) -> [Notice] {
        let wall = now.wallMilliseconds
        let notices = try claimableNotices(
            uid: uid, scope: scope, limit: limit, claimTimeoutMilliseconds: claimTimeoutMilliseconds, now: now)
        for notice in notices {
            try database.run(Self.claimSQL, SQLValue(notice.number), SQLValue(route), SQLValue(wall))
        }
        return notices
    }

    /// What `claimNotices` would hand out; of a clone nothing that the other machine tells.
    package func claimableNotices(
        uid: UInt32, scope: NoticeScope = NoticeScope(), limit: Int, claimTimeoutMilliseconds: Int64 = 60_000,
        now: ClockReading
    ) throws(StoreError) -> [Notice] {
        let wall = now.wallMilliseconds
        var after = max(scope.afterNumber, try newestCopiedNotice())
        var found: [Notice] = []
        // What nobody was shown is bounded for each user.
        while true {
            let rows = try database.rows(
                Self.pendingOfUserSQL, [SQLValue(after), SQLValue(Self.noticesPerTurn), SQLValue(uid)]
            ) { NoticeRecord.table.read($0) }
            for row in rows {
                // A claim from the future is one from before the clock was set back.
                let isFree = row.claimed.map { $0 <= wall - claimTimeoutMilliseconds || $0 > wall } ?? true
                guard isFree, scope.admits(row) else { continue }
                found.append(row.notice)
                if found.count == limit { return found }
            }
            guard rows.count == Self.noticesPerTurn, let last = rows.last else { return found }
            after = last.number
        }
    }

    /// The users who have notices to be shown that nobody was shown.
    package func usersWithPendingNotices() throws(StoreError) -> [UInt32] {
        let copied = try newestCopiedNotice()
        var users: [UInt32] = []
        for uid in try usersWithUnshownNotices() {
            if try database.integer(Self.newestPendingSQL, SQLValue(uid)) ?? 0 > copied { users.append(uid) }
        }
        return users
    }

    /// The users who have notices that nobody was shown, whether they are to be shown or not.
    func usersWithUnshownNotices() throws(StoreError) -> [UInt32] {
        var users: [UInt32] = []
        var last: Int64 = -1
        while let uid = try database.integer(Self.nextUserSQL, SQLValue(last)) {
            users.append(UInt32(truncatingIfNeeded: uid))
            last = uid
        }
        return users
    }

    /// Notes down that `route` showed a user's notices; nobody gets them again. Returns how many were not shown before.
    package func acknowledgeNotices(
        _ numbers: [Int64], route: String, uid: UInt32, now: ClockReading
    ) throws(StoreError) -> Int {
        var count = 0
        for number in numbers {
            count += try database.run(
                Self.acknowledgeSQL, SQLValue(number), SQLValue(route), SQLValue(uid), SQLValue(now.wallMilliseconds))
        }
        counters.add(-Int64(count), to: .pendingNotices)
        return count
    }

    /// Gives up `route`'s claims on a user's notices, so that another route gets them at once.
    package func returnNotices(_ numbers: [Int64], route: String, uid: UInt32) throws(StoreError) {
        for number in numbers {
            let count = try database.run(Self.returnSQL, SQLValue(number), SQLValue(route), SQLValue(uid))
            guard count > 0 else { continue }
            if let row = try database.find(NoticeRecord.self, SQLValue(number)) {
                changes.returnedNotices.append(row.notice)
            }
        }
    }

    /// Shows notices up to number `newest` here no more, because they are told elsewhere. Some a step; returns whether
    /// there are more.
    func settleNotices(upTo newest: Int64, route: String, now: ClockReading) throws(StoreError) -> Bool {
        var left = Self.noticesPerTurn
        for uid in try usersWithUnshownNotices() where left > 0 {
            let count = try database.run(
                Self.settleSQL, SQLValue(newest), SQLValue(route), SQLValue(now.wallMilliseconds), SQLValue(uid),
                SQLValue(left))
            counters.add(-Int64(count), to: .pendingNotices)
            left -= count
        }
        return left <= 0
    }

    /// Gives up all claims: the routes of an earlier run are gone.
    func forgetNoticeClaims() throws(StoreError) { try database.run(Self.forgetClaimsSQL) }
}

extension NoticeScope {
    /// Whether a notice is in the scope.
    fileprivate func admits(_ row: NoticeRecord) -> Bool {
        if let game, !ExactText.same(game, row.game) { return false }
        if let player, !ExactText.same(player, row.player) { return false }
        let isReserved = reserved.contains {
            ExactText.same($0.game, row.game) && ExactText.same($0.player, row.player)
        }
        if isReserved, row.created > reservedSinceMilliseconds { return false }
        return atPlay.allSatisfy { game in
            !ExactText.same(game.game, row.game) || ExactText.contains(game.players.prefix(64), row.player)
        }
    }
}
