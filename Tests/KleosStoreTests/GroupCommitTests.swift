import Dispatch
import Glibc
import KleosModel
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

@testable import KleosStore

@Suite struct GroupCommitTests {
    /// Does `submit` while the store's queue stands still, and returns once `count` answers came, in their order.
    func answers<T: Sendable>(
        _ store: TemporaryStore, count: Int, _ submit: (@escaping @Sendable (T) -> Void) -> Void
    ) -> [T] {
        let answers = Mutex<[T]>([])
        let done = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        store.store.executor.queue.async { gate.wait() }
        submit { answer in
            answers.withLock { $0.append(answer) }
            done.signal()
        }
        gate.signal()
        for _ in 0..<count { done.wait() }
        return answers.withLock { $0 }
    }

    @Test func noAnswerComesBeforeTheCommit() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        let underWay: [Bool?] = answers(store, count: 3) { answer in
            for number in 0..<3 {
                let event = maker.score(1, board: "\(number)")
                store.store.perform({ (outbox) throws(StoreError) in try outbox.accept(event, fanOut: [way()]) }) { _ in
                    // On the store's queue already, so that the outbox can be looked at.
                    answer(store.store.assumeIsolated { $0.isInTransaction })
                }
            }
        }
        #expect(underWay == [false, false, false])
    }

    @Test func aFailureUndoesOnlyItself() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        let (first, second, bad) = (maker.score(1, board: "1"), maker.score(1, board: "2"), maker.score(1, board: "3"))
        let results: [Bool] = answers(store, count: 3) { answer in
            for event in [first, bad, second] {
                let work: @Sendable (Outbox) throws(StoreError) -> AcceptResult = { (outbox) throws(StoreError) in
                    let result = try outbox.accept(event, fanOut: [way()])
                    if event == bad { throw StoreError(.fault, operation: "test", message: "after writing") }
                    return result
                }
                store.store.perform(work) { result in
                    if case .success = result { answer(true) } else { answer(false) }
                }
            }
        }
        #expect(results == [true, false, true])
        #expect(Set(try store.all().map(\.key)) == [first.key, second.key])
        let counters = try store.run { (outbox) throws(StoreError) in try outbox.status() }
        #expect(counters.endpoints.first?.counts == [.ready: 2])
    }

    @Test func afterAFailedSyncNothingIsAnswered() throws {
        let store = try TemporaryStore(log: Log(sink: { _, _ in }))
        let event = EventMaker(store.clock).score(1)
        let failed = DispatchSemaphore(value: 0)
        let answered = Mutex(0)
        let told = Mutex(0)
        store.store.setChangeHandler { _ in told.withLock { $0 += 1 } }
        store.store.setFailureHandler { error in
            #expect(error.kind == .io)
            failed.signal()
        }
        _ = store.store.withOutbox { $0.commitFault = StoreError(.io, operation: "sync", message: "test") }
        for _ in 0..<2 {
            store.store.perform(
                { (outbox) throws(StoreError) in try outbox.accept(event, fanOut: [way()]) },
                then: { _ in answered.withLock { $0 += 1 } })
        }
        try #require(failed.wait(timeout: Patience.end) == .success)
        store.close()
        #expect(answered.withLock { $0 } == 0)
        #expect(told.withLock { $0 } == 0)
    }

    @Test func onAFullDiskNewEventsAreRefusedAndTheRestGoesOn() throws {
        let options = StoreOptions(freeFloorBytes: 0, reserveBytes: 65_536, machineID: "m")
        let store = try TemporaryStore(options: options, log: Log(sink: { _, _ in }))
        let maker = EventMaker(store.clock)
        let first = maker.score(1, board: "first")
        try store.accept(first)
        let claim = try #require(try store.claim().first)
        // A sign by which the reserve is known again: there is room here to make it anew at once.
        let reserve = store.folder.path("outbox.reserve")
        try #require(chmod(reserve, 0o640) == 0)
        _ = try store.store.withOutbox { outbox in
            let pages = try outbox.database.integer(.once("PRAGMA page_count")) ?? 0
            _ = try outbox.database.integer(.once("PRAGMA max_page_count = \(pages + 1)"))
        }
        var result: AcceptResult?
        for number in 0..<200 {
            let subject = Subject.score(leaderboard: "b\(number)", value: ScoreValue(units: 1))
            result = try store.accept(maker.event(subject, metadata: [UInt8](repeating: 0x20, count: 4_000)))
            if case .queueFull = result { break }
        }
        #expect(result == .queueFull("the disk is full"))
        var information = stat()
        #expect(stat(reserve, &information) != 0 || information.st_mode & 0o777 == 0o600, "it was not given up")
        let settled = try store.settle(claim, .delivered(Confirmation(), notice: nil), .delivered)
        #expect(settled.state == .delivered)
    }

    @Test func usersTakeTurnsAndSoDoTheirConnections() {
        let queue = NamedWork()
        for number in 1...3 { queue.add("a1.\(number)", lane: .user(1, connection: 11)) }
        queue.add("a2.1", lane: .user(1, connection: 12))
        queue.add("b1", lane: .user(2, connection: 21))
        queue.add("daemon", lane: .daemon)
        #expect(queue.takeAll() == ["a1.1", "b1", "daemon", "a2.1", "a1.2", "a1.3"])
    }

    @Test func manyConnectionsGetAUserNoMoreTurns() {
        let queue = NamedWork()
        for round in 1...100 {
            for connection in 1...256 { queue.add("flood \(round)", lane: .user(1, connection: UInt64(connection))) }
        }
        for number in 1...3 { queue.add("other \(number)", lane: .user(2, connection: 1_000)) }
        let order = queue.takeAll()
        #expect(order.count == 25_603)
        // One turn of the flooding user before each of the other's.
        #expect((1...3).map { order.firstIndex(of: "other \($0)") } == [1, 3, 5])
        // Within the flood, every connection had its first turn before any had its second.
        #expect(order.filter { $0.hasPrefix("flood") }.prefix(256).allSatisfy { $0 == "flood 1" })
    }

    @Test func aLongLaneKeepsItsOrder() {
        let queue = NamedWork()
        for number in 0..<1_000 { queue.add(String(number), lane: .user(1, connection: 1)) }
        #expect(queue.takeAll() == (0..<1_000).map(String.init))
    }

    @Test func afterClosingWorkIsRefused() throws {
        let store = try TemporaryStore()
        store.close()
        #expect(throws: StoreError.self) { try store.claim() }
    }

    @Test func whoeverAsksWhileItClosesIsAnswered() throws {
        for _ in 0..<20 {
            let store = try TemporaryStore()
            let answered = Mutex(0)
            let all = DispatchSemaphore(value: 0)
            DispatchQueue.concurrentPerform(iterations: 3) { number in
                for asked in 0..<200 {
                    if number == 0, asked == 20 { store.store.close {} }
                    store.store.perform { _ throws(StoreError) in
                    } then: { _ in
                        let count = answered.withLock { count in
                            count += 1
                            return count
                        }
                        if count == 600 { all.signal() }
                    }
                }
            }
            try #require(all.wait(timeout: Patience.end) == .success)
        }
    }

    @Test func checkpointsAdaptToTheDisk() {
        var size = CheckpointSize()
        let start = size.pages
        size.learn(moved: start, milliseconds: 1)
        #expect(size.pages > start)
        for _ in 0..<20 { size.learn(moved: size.pages, milliseconds: 50) }
        #expect(size.pages == CheckpointSize.minimumPages)
        for _ in 0..<40 { size.learn(moved: size.pages, milliseconds: 1) }
        #expect(size.pages == CheckpointSize.maximumPages)
    }
}

/// Work that only notes down its name when it is taken.
private final class NamedWork {
    private final class Order: Sendable {
        let names = Mutex<[String]>([])
    }

    private var queue = WorkQueue()
    private let order = Order()

    func add(_ name: String, lane: WorkLane) {
        let order = order
        let item = WorkItem(run: { _ in {} }, fail: { _ in order.names.withLock { $0.append(name) } })
        queue.append(item, lane: lane)
    }

    func takeAll() -> [String] {
        while let item = queue.popFirst() { item.fail(StoreError(.closed, operation: "", message: "")) }
        #expect(queue.isEmpty)
        return order.names.withLock { $0 }
    }
}
