import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// No statement that runs looks at the backlog: the plans of the very texts that were prepared. The planner knows no counts,
/// here as in the daemon, so that a plan is the same however much there is.
@Suite struct QueryPlanTests {
    /// Walks that go in turns, begin at a cursor or at the newest and end with a LIMIT, over a table's own key.
    private static func isWalk(_ sql: String) -> Bool {
        if sql.contains("FROM events ORDER BY id DESC LIMIT") { return true }
        return sql.contains("LIMIT ?")
            && (sql.contains(".id > ?") || sql.contains(".number > ?") || sql.contains("id > ?"))
    }

    /// Tables that stay small whatever is queued.
    private static let small = ["endpoints", "lanes", "meta", "flights", "counters", " p", " l", " f", " c", " m"]

    @Test func everyStatementThatRunsFindsWhatItAsksFor() throws {
        let store = try TemporaryStore()
        try use(store)
        let plans = try store.store.withOutbox { outbox in
            return try outbox.database.preparedTexts.filter(Self.isQuery).map { text in (text, try plan(text, outbox)) }
        }
        let checked = try #require(plans)
        #expect(checked.count > 60, "\(checked.count) statements ran")
        for (sql, lines) in checked {
            for line in lines where line.hasPrefix("SCAN") && !line.contains("CONSTANT ROW") {
                let isSmall = Self.small.contains {
                    line.hasSuffix($0) || line.contains("SCAN \($0.dropFirst($0.hasPrefix(" ") ? 1 : 0)) ")
                }
                let isAllowed =
                    isSmall || Self.isWalk(sql) || line.contains("USING INDEX") || line.contains("USING COVERING INDEX")
                #expect(isAllowed, "\(line) in \(sql)")
            }
        }
    }

    private static func isQuery(_ sql: String) -> Bool {
        ["SELECT", "UPDATE", "DELETE", "WITH"].contains { sql.hasPrefix($0) }
    }

    private func plan(_ sql: String, _ outbox: Outbox) throws -> [String] {
        let count = (1...40).last { sql.contains("?\($0)") } ?? 0
        let values = [SQLValue](repeating: 1, count: count)
        return try outbox.database.rows(.once("EXPLAIN QUERY PLAN \(sql)"), values) { $0.text(3) }
    }

    /// Does at least once whatever the outbox can do.
    private func use(_ store: TemporaryStore) throws {
        let maker = EventMaker(store.clock)
        for number in 0..<6 {
            try store.accept(maker.score(Int64(number), clientID: "id-\(number)"), way(), way("other", merge: .none))
            try store.accept(maker.score(Int64(number), board: "strict"), way(isStrict: true))
        }
        let facts = NoticeFacts(kind: .score, item: "b")
        for claim in try store.claim(2) { try store.settle(claim, .delivered(Confirmation(), notice: .known(facts))) }
        for claim in try store.claim(endpoint: "other") {
            try store.settle(claim, .retry(dueMilliseconds: store.clock.nowMilliseconds + 10, isServerError: true))
        }
        for claim in try store.claim(2, endpoint: "other") {
            try store.settle(claim, .dead(.rejected, message: "no"))
        }
        let now = store.now
        let key = try #require(try store.all().first?.key)
        try store.run { (outbox) throws(StoreError) in
            _ = try outbox.nextDueMilliseconds(endpoint: "other")
            _ = try outbox.bringForward(endpoint: "other", nowMilliseconds: now.wallMilliseconds)
            _ = try outbox.hold(.filter(DeliveryFilter()), now: now)
            _ = try outbox.release(.filter(DeliveryFilter()), now: now)
            _ = try outbox.show(key: key, visibleTo: nil)
            _ = try outbox.show(clientID: "id-1", game: "g", uid: 1000)
            _ = try outbox.list(DeliveryFilter(states: [.dead]), visibleTo: nil, limit: 5)
            _ = try outbox.list(DeliveryFilter(states: [.held]), visibleTo: nil, limit: 5)
            _ = try outbox.standings(StandingQuery(player: "p"))
            _ = try outbox.standings(StandingQuery())
            _ = try outbox.notices(NoticeQuery())
            _ = try outbox.notices(NoticeQuery(uid: 1000, isPendingOnly: true))
            _ = try outbox.claimNotices(route: "game", uid: 1000, limit: 5, now: now)
            _ = try outbox.usersWithPendingNotices()
            _ = try outbox.status()
            _ = try outbox.storage()
            _ = try outbox.users(visibleTo: nil, limit: 5)
            _ = try outbox.maintain(now: now)
            _ = try outbox.expire(endpoint: "home", maximumAgeMilliseconds: 1, limit: 10, now: now)
            _ = try outbox.reconcile(games: ["g"], endpoints: ["home"], now: now)
            _ = try outbox.reconcile(games: ["g"], endpoints: ["home", "other"], now: now)
            _ = try outbox.export(after: 0, upTo: 3, isHeld: true, now: now)
            _ = try outbox.finishExport(upToNotice: 1, now: now)
            _ = try outbox.exportStandings(after: 0)
            _ = try outbox.recover(atMostOnceEndpoints: ["other"], now: now)
            try outbox.setPause(endpoint: "home", reason: "r", nowMilliseconds: 1)
            try outbox.clearPause(endpoint: "home")
            try outbox.markConfirmed(endpoint: "home", fingerprint: "f", nowMilliseconds: 1)
            let target = ForgetTarget(player: "q", game: nil, recordedUntilMilliseconds: now.wallMilliseconds)
            _ = try outbox.forgetEvents(target, after: 0, now: now)
            _ = try outbox.forgetRest(target, now: now)
        }
    }
}
