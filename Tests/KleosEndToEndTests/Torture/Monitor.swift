import Dispatch
import Synchronization

/// Shared state whose changes can be waited for.
final class Monitor<State: Sendable>: Sendable {
    private struct Waiter {
        let number: Int
        let condition: @Sendable (State) -> Bool
        let semaphore: DispatchSemaphore
    }

    private struct Content {
        var state: State
        var waiters: [Waiter] = []
        var waiterCount = 0
    }

    private let content: Mutex<Content>

    init(_ state: State) {
        content = Mutex(Content(state: state))
    }

    /// Looks at the state.
    func read<T: Sendable>(_ body: (State) throws -> T) rethrows -> T {
        try content.withLock { try body($0.state) }
    }

    /// Changes the state and wakes those whose condition holds now.
    @discardableResult
    func change<T: Sendable>(_ body: (inout State) -> T) -> T {
        content.withLock { content in
            let result = body(&content.state)
            let state = content.state
            content.waiters.removeAll { waiter in
                guard waiter.condition(state) else { return false }
                waiter.semaphore.signal()
                return true
            }
            return result
        }
    }

    /// Waits until `condition` holds; false where it does not within `milliseconds`.
    func wait(milliseconds: Int, until condition: @escaping @Sendable (State) -> Bool) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let number: Int? = content.withLock { content in
            if condition(content.state) { return nil }
            content.waiterCount += 1
            content.waiters.append(
                Waiter(number: content.waiterCount, condition: condition, semaphore: semaphore))
            return content.waiterCount
        }
        guard let number else { return true }
        if semaphore.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { return true }
        return content.withLock { content in
            content.waiters.removeAll { $0.number == number }
            return condition(content.state)
        }
    }
}
