import KleosSupport

/// Simulated time, and all that happens in it.
///
/// Work of processes is run one piece at a time, of a queue chosen by the seed, so that every order that threads could
/// bring about can come up. When no queue has work, time jumps to what is next on the agenda.
///
/// Sendable because everything that touches it runs on the one thread that calls `run`.
final class Schedule: @unchecked Sendable {
    /// Milliseconds since the beginning of the simulation, those in suspend left out.
    private(set) var milliseconds: Int64 = 0
    /// The one source of chance.
    var random: SeededGenerator
    private var agenda = Agenda()
    private var ready: [StepQueue] = []
    private(set) var stepsTaken = 0
    /// Called between two pieces of work; what must always hold is checked here.
    var afterStep: () -> Void = {}
    /// The queue whose work is running.
    private(set) var current: StepQueue?

    /// Begins at zero; everything follows from `seed`.
    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Does `work` in `delay` milliseconds, unless `life` has ended by then.
    func after(_ delay: Int64, _ life: Life? = nil, _ work: @escaping () -> Void) {
        agenda.insert(Agenda.Entry(at: milliseconds + max(0, delay), life: life, work: work))
    }

    /// A queue has work.
    func noteWork(of queue: StepQueue) { ready.append(queue) }

    /// Lets time pass within a piece of work, as a slow disk does.
    func pass(_ delay: Int64) { milliseconds += delay }

    /// Forgets what belongs to lives that ended.
    func forgetEnded() {
        agenda.removeEnded()
        ready.removeAll { !$0.life.isAlive }
    }

    /// Forgets all that was planned.
    func forgetEverything() {
        agenda = Agenda()
        ready = []
    }

    /// Lets everything happen until `end`, or until `isDone` says so.
    func run(until end: Int64, or isDone: () -> Bool = { false }) {
        while !isDone() {
            if let queue = nextQueue() {
                current = queue
                queue.runFirst()
                current = nil
            } else if let entry = agenda.first, entry.at <= end {
                agenda.removeFirst()
                milliseconds = max(milliseconds, entry.at)
                if entry.life?.isAlive ?? true { entry.work() }
            } else {
                milliseconds = max(milliseconds, end)
                return
            }
            stepsTaken += 1
            afterStep()
        }
    }

    private func nextQueue() -> StepQueue? {
        while !ready.isEmpty {
            let index = ready.count == 1 ? 0 : Int.random(in: 0..<ready.count, using: &random)
            let queue = ready.remove(at: index)
            if queue.hasWork { return queue }
        }
        return nil
    }

    // MARK: - Chance

    /// Whether something with a chance of one in `count` happens.
    func chance(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    /// A number of the range, each as likely.
    func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    /// A number of the range, each as likely.
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// A number of the range, small ones far more likely: each power of two as likely as the next.
    func skewed(_ range: ClosedRange<Int64>) -> Int64 {
        let span = UInt64(range.upperBound - range.lowerBound)
        guard span > 0 else { return range.lowerBound }
        let bits = 64 - span.leadingZeroBitCount
        let limit = min(span, (1 << UInt64(number(0...bits))) &- 1)
        return range.lowerBound + Int64(UInt64.random(in: 0...limit, using: &random))
    }

    /// One of `choices`, each as likely; there is at least one.
    func one<T>(of choices: [T]) -> T { choices[number(0...choices.count - 1)] }
}
