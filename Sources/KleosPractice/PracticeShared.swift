import CLinux
import Dispatch
import Glibc
import KleosSupport
import Synchronization

/// What the server's thread and its owners share.
final class PracticeShared: Sendable {
    private struct Waiter {
        let number: Int
        let condition: @Sendable (PracticeService) -> Bool
        let semaphore: DispatchSemaphore
    }

    private struct State {
        var service: PracticeService
        var waiters: [Waiter] = []
        var waiterCount = 0
    }

    /// Readable when the thread is to look up.
    let wakeup: FileDescriptor
    private let state: Mutex<State>
    private let stopping = Atomic(false)

    init(service: PracticeService) throws(SystemError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError("make an event descriptor") }
        wakeup = FileDescriptor(owning: number)
        state = Mutex(State(service: service))
    }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    func requestStop() {
        stopping.store(true, ordering: .releasing)
        wake()
    }

    /// Makes the server's thread look up.
    func wake() {
        eventfd_write(wakeup.number, 1)
    }

    func clearWakeup() {
        var value: eventfd_t = 0
        eventfd_read(wakeup.number, &value)
    }

    func handle(_ request: HTTPRequest) -> Reaction {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        return state.withLock { state in
            let reaction = state.service.handle(request, nowMilliseconds: now)
            Self.wakeWaiters(&state)
            return reaction
        }
    }

    func release(_ key: String) {
        state.withLock { $0.service.release(key) }
    }

    func withService<T: Sendable>(_ body: (inout PracticeService) -> T) -> T {
        state.withLock { state in
            let result = body(&state.service)
            Self.wakeWaiters(&state)
            return result
        }
    }

    /// Waits until `condition` holds; false where it does not within `timeoutSeconds`.
    func wait(timeoutSeconds: Double, until condition: @escaping @Sendable (PracticeService) -> Bool) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let number: Int? = state.withLock { state in
            if condition(state.service) { return nil }
            state.waiterCount += 1
            state.waiters.append(Waiter(number: state.waiterCount, condition: condition, semaphore: semaphore))
            return state.waiterCount
        }
        guard let number else { return true }
        if semaphore.wait(timeout: .now() + timeoutSeconds) == .success { return true }
        return state.withLock { state in
            state.waiters.removeAll { $0.number == number }
            return condition(state.service)
        }
    }

    private static func wakeWaiters(_ state: inout State) {
        guard !state.waiters.isEmpty else { return }
        let service = state.service
        state.waiters.removeAll { waiter in
            guard waiter.condition(service) else { return false }
            waiter.semaphore.signal()
            return true
        }
    }
}
