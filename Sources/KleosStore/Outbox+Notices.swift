package import KleosModel
package import KleosSupport

extension Notice {
    static let columns = """
        n.number, n.key, n.game, n.player, n.uid, n.kind, n.item, n.amount, n.decimals, n.rank, n.changed, n.created, \
        n.shown, n.route
        """

    init?(_ row: Statement) {
        guard let kind = SubjectKind(rawValue: row.text(5)) else { return nil }
        let value = row.optionalInteger(7).map { ScoreValue(units: $0, decimals: row.decimals(8)) }
        self.init(
            number: row.integer(0), key: EventKey(row, 1), game: row.text(2), player: row.text(3),
            uid: UInt32(truncatingIfNeeded: row.integer(4)),
            facts: NoticeFacts(
                kind: kind, item: row.text(6), value: value, rank: row.optionalInteger(9),
                changed: row.isNull(10) ? nil : row.flag(10)),
            createdMilliseconds: row.integer(11), shownMilliseconds: row.optionalInteger(12),
            route: row.optionalText(13))
    }
}

extension Outbox {
    /// Notices in the order of their numbers.
    package func notices(_ query: NoticeQuery) throws(StoreError) -> [Notice] {
        try database.rows(
            """
            SELECT \(Notice.columns) FROM notices n
            WHERE n.number > ?1 AND (?2 IS NULL OR n.uid = ?2) AND (?3 IS NULL OR n.game = ?3)
                AND (?4 IS NULL OR n.player = ?4) AND (?5 = 0 OR n.shown IS NULL)
            ORDER BY n.number LIMIT ?6
            """,
            [
                SQLValue(query.afterNumber), SQLValue(query.uid.map { Int64($0) }), SQLValue(query.game),
                SQLValue(query.player), SQLValue(query.isPendingOnly), SQLValue(query.limit),
            ]
        ) { Notice($0) }
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
            try database.run(
                "UPDATE notices SET claimed_by = ?2, claimed = ?3 WHERE number = ?1 AND shown IS NULL",
                SQLValue(notice.number), SQLValue(route), SQLValue(wall))
        }
        return notices
    }

    /// What `claimNotices` would hand out; of a clone nothing that the other machine tells.
    package func claimableNotices(
        uid: UInt32, scope: NoticeScope = NoticeScope(), limit: Int, claimTimeoutMilliseconds: Int64 = 60_000,
        now: ClockReading
    ) throws(StoreError) -> [Notice] {
        let wall = now.wallMilliseconds
        var values = [
            SQLValue(uid), SQLValue(wall - claimTimeoutMilliseconds), SQLValue(wall), SQLValue(limit),
            SQLValue(scope.game), SQLValue(scope.player), SQLValue(scope.reservedSinceMilliseconds),
            SQLValue(max(scope.afterNumber, try newestCopiedNotice())),
        ]
        var reserved = ""
        for reader in scope.reserved {
            reserved +=
                " AND NOT (n.created > ?7 AND n.game = ?\(values.count + 1) AND n.player = ?\(values.count + 2))"
            values += [SQLValue(reader.game), SQLValue(reader.player)]
        }
        for game in scope.atPlay {
            values.append(SQLValue(game.game))
            reserved += " AND NOT (n.game = ?\(values.count)"
            for player in game.players.prefix(64) {
                values.append(SQLValue(player))
                reserved += " AND n.player <> ?\(values.count)"
            }
            reserved += ")"
        }
        // A claim from the future is one from before the clock was set back.
        return try database.rows(
            """
            SELECT \(Notice.columns) FROM notices n
            WHERE n.uid = ?1 AND n.shown IS NULL AND (n.claimed IS NULL OR n.claimed <= ?2 OR n.claimed > ?3)
                AND (?5 IS NULL OR n.game = ?5) AND (?6 IS NULL OR n.player = ?6) AND ?7 IS NOT NULL
                AND n.number > ?8\(reserved)
            ORDER BY n.number LIMIT ?4
            """, values
        ) { Notice($0) }
    }

    /// The users who have notices to be shown that nobody was shown.
    package func usersWithPendingNotices() throws(StoreError) -> [UInt32] {
        try database.rows(
            "SELECT DISTINCT uid FROM notices WHERE shown IS NULL AND number > ?1 ORDER BY uid",
            [SQLValue(try newestCopiedNotice())]
        ) { UInt32(truncatingIfNeeded: $0.integer(0)) }
    }

    /// Notes down that `route` showed a user's notices; nobody gets them again. Returns how many were not shown before.
    package func acknowledgeNotices(
        _ numbers: [Int64], route: String, uid: UInt32, now: ClockReading
    ) throws(StoreError) -> Int {
        var count = 0
        for number in numbers {
            count += try database.run(
                """
                UPDATE notices SET shown = ?4, route = ?2, claimed_by = NULL, claimed = NULL
                WHERE number = ?1 AND uid = ?3 AND shown IS NULL
                """, SQLValue(number), SQLValue(route), SQLValue(uid), SQLValue(now.wallMilliseconds))
        }
        effects.counts[.pendingNotices, default: 0] -= Int64(count)
        return count
    }

    /// Gives up `route`'s claims on a user's notices, so that another route gets them at once.
    package func returnNotices(_ numbers: [Int64], route: String, uid: UInt32) throws(StoreError) {
        for number in numbers {
            let count = try database.run(
                """
                UPDATE notices SET claimed_by = NULL, claimed = NULL
                WHERE number = ?1 AND uid = ?3 AND claimed_by = ?2 AND shown IS NULL
                """, SQLValue(number), SQLValue(route), SQLValue(uid))
            guard count > 0 else { continue }
            effects.changes.returnedNotices += try database.rows(
                "SELECT \(Notice.columns) FROM notices n WHERE n.number = ?1", [SQLValue(number)]
            ) { Notice($0) }
        }
    }
}

extension Outbox {
    /// Shows notices up to number `newest` here no more, because they are told elsewhere.
    func settleNotices(upTo newest: Int64, route: String, now: ClockReading) throws(StoreError) {
        let count = try database.run(
            """
            UPDATE notices SET route = ?2, shown = ?3, claimed_by = NULL, claimed = NULL
            WHERE number <= ?1 AND shown IS NULL
            """, SQLValue(newest), SQLValue(route), SQLValue(now.wallMilliseconds))
        effects.counts[.pendingNotices, default: 0] -= Int64(count)
    }

    /// Gives up all claims: the routes of an earlier run are gone.
    func forgetNoticeClaims() throws(StoreError) {
        try database.run(
            "UPDATE notices SET claimed_by = NULL, claimed = NULL WHERE shown IS NULL AND claimed IS NOT NULL")
    }
}
