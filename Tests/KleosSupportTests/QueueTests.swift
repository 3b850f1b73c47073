import Dispatch
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// Who is next, and in which order.
@Suite struct FairQueueTests {
    @Test func ownersTakeTurnsHoweverManyLinesTheyHave() {
        var queue = FairQueue<String, Int, String>()
        #expect(queue.isEmpty && queue.popFirst() == nil)
        for line in 0..<3 { for number in 0..<2 { queue.append("a\(line)\(number)", owner: "a", line: line) } }
        queue.append("b00", owner: "b", line: 0)
        queue.append("b01", owner: "b", line: 0)
        var order: [String] = []
        while let next = queue.popFirst() { order.append(next) }
        #expect(order == ["a00", "b00", "a10", "b01", "a20", "a01", "a11", "a21"])
        #expect(queue.isEmpty)
    }

    @Test func whoComesBackIsLast() {
        var queue = FairQueue<Int, Int, Int>()
        queue.append(1, owner: 1, line: 1)
        queue.append(2, owner: 2, line: 1)
        #expect(queue.popFirst() == 1)
        queue.append(3, owner: 1, line: 1)
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst()] == [2, 3, nil])
    }

    @Test func whatIsTakenIsLetGoAtOnce() {
        final class Element {}
        var queue = FairQueue<Int, Int, Element>()
        weak var first: Element?
        do {
            let element = Element()
            first = element
            queue.append(element, owner: 1, line: 1)
        }
        queue.append(Element(), owner: 1, line: 1)
        #expect(first != nil)
        _ = queue.popFirst()
        #expect(first == nil)
        #expect(!queue.isEmpty)
    }

    @Test(arguments: UInt64(0)..<50)
    func nothingIsLostAndLinesKeepTheirOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = FairQueue<Int, Int, Int>()
        var lines: [[Int]: [Int]] = [:]
        var left = 0
        func pop() {
            guard let next = queue.popFirst() else { return #expect(left == 0) }
            left -= 1
            // Numbers grow with time, so that the first of its line is the only one that may come.
            let line = lines.first { $0.value.first == next }
            #expect(line != nil)
            if let line { lines[line.key]?.removeFirst() }
        }
        for number in 0..<2_000 {
            if Int.random(in: 0..<5, using: &random) < 3 {
                let place = [Int.random(in: 0..<4, using: &random), Int.random(in: 0..<3, using: &random)]
                queue.append(number, owner: place[0], line: place[1])
                lines[place, default: []].append(number)
                left += 1
            } else {
                pop()
            }
        }
        while left > 0 { pop() }
        #expect(queue.isEmpty && queue.popFirst() == nil)
    }
}

@Suite struct QueueActorTests {
    private actor Counter: QueueActor {
        nonisolated let executor = QueueExecutor(label: "kleos.test")
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        var seen: [Int] = []

        func note(_ number: Int) { seen.append(number) }

        func fail() throws(SystemError) -> Int { throw SystemError("count", code: 1) }
    }

    @Test func isEnteredInTheOrderOfTheCalls() async {
        let counter = Counter()
        for number in 0..<100 { counter.async { $0.note(number) } }
        #expect(counter.sync { $0.seen } == Array(0..<100))
        await counter.note(100)
        #expect(await counter.seen.last == 100)
    }

    @Test func handsErrorsBack() {
        let counter = Counter()
        #expect(throws: SystemError("count", code: 1)) {
            try counter.sync { (counter) throws(SystemError) in try counter.fail() }
        }
    }

    @Test func timersGoOffOnItsQueueAndNeverEarly() {
        let counter = Counter()
        let done = DispatchSemaphore(value: 0)
        let clock = SystemClock()
        let start = clock.monotonicNanoseconds
        counter.after(milliseconds: 20) { counter in
            counter.note(1)
            done.signal()
        }
        #expect(done.wait(timeout: Patience.end) == .success)
        #expect(clock.monotonicNanoseconds - start >= 20_000_000)
        #expect(counter.sync { $0.seen } == [1])
    }

    @Test func aTimerIsScheduledAnewAndCalledOff() {
        let queue = DispatchedQueue(label: "kleos.test.timer")
        let calls = Atomic<Int>(0)
        let rang = DispatchSemaphore(value: 0)
        let timer = queue.makeTimer {
            calls.add(1, ordering: .relaxed)
            rang.signal()
        }
        timer.schedule(milliseconds: 600_000, leewayMilliseconds: 0)
        // In place of the ten minutes.
        timer.schedule(milliseconds: 1, leewayMilliseconds: 0)
        #expect(rang.wait(timeout: Patience.end) == .success)
        timer.schedule(milliseconds: 0, leewayMilliseconds: 0)
        #expect(rang.wait(timeout: Patience.end) == .success, "it goes off each time it is scheduled")
        // On its queue, where it cannot go off before it is called off, however slow the machine.
        queue.sync {
            timer.schedule(milliseconds: 30, leewayMilliseconds: 0)
            timer.schedule(milliseconds: nil, leewayMilliseconds: 0)
        }
        let later = DispatchSemaphore(value: 0)
        queue.after(milliseconds: 60) { later.signal() }
        #expect(later.wait(timeout: Patience.end) == .success)
        timer.cancel()
        #expect(calls.load(ordering: .relaxed) == 2)
    }
}
