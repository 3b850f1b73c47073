import KleosModel
import KleosStore
import KleosTestSupport
import Testing

/// Whose deliveries go out where not all can.
@Suite struct TurnTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    @Test func whatComesBackIsFoundBehindWhatWasClaimedSince() throws {
        for board in ["a", "b", "c"] { try store.accept(maker.score(1, board: board)) }
        let first = try #require(try store.claim(1).first)
        let second = try #require(try store.claim(1).first)
        try #require(first.event.subject.item == "a" && second.event.subject.item == "b")
        let now = store.now
        try store.run { (outbox) throws(StoreError) in try outbox.giveBack(first.id, now: now) }
        #expect(try store.claim().map(\.event.subject.item).sorted() == ["a", "c"])
    }

    /// Where nothing waits for another, what is in backoff stops the fresh only while there is too much of it.
    @Test func aStreamGoesOnOnceLessOfItIsInBackoff() throws {
        let events = (0..<65).map { _ in maker.score(1) }
        for event in events { try store.accept(event, way(merge: .none)) }
        let due = store.clock.nowMilliseconds + 1_000
        for claim in try store.claim(64) {
            try store.settle(claim, .retry(dueMilliseconds: due, isServerError: false))
        }
        #expect(try store.claim().isEmpty)
        store.clock.advance(milliseconds: 1_000)
        let retried = try #require(try store.claim(1).first)
        try store.settle(retried, .delivered(Confirmation(), notice: nil))
        #expect(try store.claim(100).map(\.event.key).contains(events[64].key))
    }

    @Test func aUserWhoFillsTheQueueLeavesPlacesToOthers() throws {
        for number in 0..<20 { try store.accept(maker.score(1, board: "b\(number)", uid: 1_000)) }
        for number in 0..<2 { try store.accept(maker.score(1, board: "b\(number)", player: "q", uid: 1_001)) }
        #expect(try store.claim(4).map(\.event.submitter.uid).sorted() == [1_000, 1_000, 1_001, 1_001])
    }

    @Test func whatFailsAgainAndAgainLeavesPlacesToTheFresh() throws {
        for number in 0..<4 { try store.accept(maker.score(1, board: "old\(number)")) }
        let due = store.clock.nowMilliseconds + 1_000
        for claim in try store.claim(4) { try store.settle(claim, .retry(dueMilliseconds: due, isServerError: false)) }
        store.clock.advance(milliseconds: 1_000)
        for number in 0..<4 { try store.accept(maker.score(1, board: "new\(number)")) }
        #expect(try store.claim(4).map { $0.attemptsMade }.sorted() == [0, 0, 1, 1])
    }
}
