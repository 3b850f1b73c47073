import Dispatch
import KleosJSON
import KleosModel
import KleosServer
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

/// One user's flood, and another user's submit.
@Suite struct FairnessTests {
    private static func submit(_ number: Int) -> String {
        #"{"jsonrpc":"2.0","id":\#(number),"method":"submit","params":{"kind":"score","game":"minesweeper","#
            + #""leaderboard":"every","value":\#(number % 1_000_000)}}"# + "\n"
    }

    /// The store stands still until everybody has handed over their work; then turns count, and time does not.
    @Test func aFloodOverManyConnectionsTakesOneTurnInTwo() throws {
        let harness = try ServerHarness()
        let flood = try (0..<32).map { _ in try harness.connect() }
        let other = try harness.connect(uid: ServerHarness.otherUID)
        let gate = DispatchSemaphore(value: 0)
        harness.store.store.perform { _ in
            gate.wait()
        } then: { _ in
        }
        for (index, client) in flood.enumerated() {
            client.send(Array((0..<100).map { Self.submit(1_000 * index + $0) }.joined().utf8))
            // Hello asks nothing of the store: its answer says that all the lines before it were taken up.
            #expect(try client.ask("hello").result != nil)
        }
        other.send(Array(Self.submit(999_999).utf8))
        #expect(try other.ask("hello").result != nil)
        gate.signal()
        #expect(try other.answer().result != nil)
        for client in flood { for _ in 0..<100 { #expect(try client.answer().result != nil) } }

        func rows(of uid: UInt32) throws -> [Int64] {
            try harness.store.run { (outbox) throws(StoreError) in
                try outbox.list(DeliveryFilter(), visibleTo: uid, limit: 500).deliveries.map { $0.id.number >> 12 }
            }
        }
        // Rows are numbered in the order of writing. One turn of the flood is a bundle of 64 events.
        #expect(try rows(of: ServerHarness.otherUID).allSatisfy { $0 <= 65 })
        #expect(try rows(of: ServerHarness.uid).first == 3_201)
    }

    /// What has no room in a turn is taken up in a later one, to the last line.
    @Test func everyLineOfAFloodOfNonsenseIsAnswered() throws {
        // The last client's answers lie unread until those before it have theirs.
        let harness = try ServerHarness(stallTimeoutMilliseconds: 600_000)
        let flood = try (0..<4).map { _ in try harness.connect() }
        let other = try harness.connect(uid: ServerHarness.otherUID)
        for client in flood { client.send([UInt8](repeating: 0x0A, count: 10_000)) }
        #expect(try other.ask("hello").result != nil)
        for client in flood {
            for _ in 0..<10_000 { #expect(try client.answer().reason == "parse-error") }
            #expect(try client.ask("hello").result != nil)
        }
    }
}
