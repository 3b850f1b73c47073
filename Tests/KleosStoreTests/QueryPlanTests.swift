import KleosModel
import KleosTestSupport
import Testing

@testable import KleosStore

/// What runs for every delivery must not look at the backlog.
@Suite struct QueryPlanTests {
    static let plans: [(sql: String, index: String)] = [
        (
            """
            SELECT d.id, d.stream, e.player, \(BoardKey.columns) FROM deliveries d CROSS JOIN events e ON e.id = d.event
            WHERE d.endpoint = ?1 AND d.priority = ?2 AND d.state = 'ready' AND d.due <= ?3
                AND NOT EXISTS(SELECT 1 FROM deliveries s WHERE s.stream = d.stream AND s.state = 'sending')
            ORDER BY d.due, d.id
            """, "USING INDEX deliveries_due (endpoint=? AND priority=? AND due<?)"
        ),
        (
            """
            SELECT d.due, e.player, \(BoardKey.columns) FROM deliveries d CROSS JOIN events e ON e.id = d.event
            WHERE d.endpoint = ?1 AND d.priority = ?2 AND d.state = 'ready'
                AND NOT EXISTS(SELECT 1 FROM deliveries s WHERE s.stream = d.stream AND s.state = 'sending')
            ORDER BY d.due, d.id
            """, "USING INDEX deliveries_due (endpoint=? AND priority=?)"
        ),
        (
            "\(DeliveryRow.select) WHERE d.stream = ?1 AND d.state = 'waiting' AND d.settled IS NULL ORDER BY d.id LIMIT 1",
            "USING INDEX deliveries_stream (stream=? AND state=?)"
        ),
        (
            """
            \(DeliveryRow.select)
            WHERE d.stream = ?1 AND d.state IN ('waiting', 'ready', 'sending') AND d.settled IS NULL AND d.merge != 0 ORDER BY d.id
            """, "USING INDEX deliveries_stream (stream=? AND state=?)"
        ),
        (
            "\(DeliveryRow.select) WHERE d.superseded_by = ?1 ORDER BY d.id",
            "USING INDEX deliveries_superseder (superseded_by=?)"
        ),
        (
            """
            SELECT id FROM deliveries
            WHERE (state IN ('delivered', 'discarded') OR (state = 'superseded' AND superseded_by IS NULL))
                AND settled < ?1
            ORDER BY settled LIMIT ?2
            """, "INDEX deliveries_done (settled<?)"
        ),
    ]

    @Test(arguments: plans.indices)
    func aPartialIndexIsUsed(number: Int) throws {
        let (sql, index) = Self.plans[number]
        let store = try TemporaryStore()
        let plan = try store.store.withOutbox { outbox in
            let count = sql.contains("?3") ? 3 : sql.contains("?2") ? 2 : 1
            let values = [SQLValue](repeating: 1, count: count)
            return try outbox.database.rows("EXPLAIN QUERY PLAN \(sql)", values) { $0.text(3) }
        }
        let lines = try #require(plan)
        #expect(lines.contains { $0.contains(index) }, "\(lines)")
        #expect(!lines.contains { $0.hasPrefix("SCAN") }, "\(lines)")
    }
}
