import Dispatch
import KleosTestSupport
import Synchronization

/// Gathers what completions bring, and lets a test wait for it.
final class Collector<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let arrived = DispatchSemaphore(value: 0)

    /// What has come, in order.
    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) {
        values.withLock { $0.append(value) }
        arrived.signal()
    }

    /// Waits until `count` values have come, or none has for ten minutes; returns all of them.
    func wait(for count: Int) -> [Value] {
        while all.count < count, arrived.wait(timeout: Patience.end) == .success {}
        return all
    }
}
