import Glibc
import KleosSupport
import Synchronization

/// Watches the anonymous memory of a process while something is measured.
final class MemoryWatch: Sendable {
    private let state = Mutex<(highest: Double, isOver: Bool)>((0, false))
    private let id: Int32

    private init(_ id: Int32) {
        self.id = id
    }

    /// Runs `body`, and returns with its result the most that process `id` held meanwhile, in MiB, looked at 50 times a
    /// second.
    static func during<Result, Failure: Error>(
        _ id: Int32, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> (Result, Double) {
        let watch = MemoryWatch(id)
        watch.look()
        var thread = pthread_t()
        // Sound: the thread gets a reference of its own, which it gives back.
        let context = Unmanaged.passRetained(watch).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { context in
                // Sound: see above; pthread_create passes the pointer on as it is.
                if let context { Unmanaged<MemoryWatch>.fromOpaque(context).takeRetainedValue().watch() }
                return nil
            }, context)
        precondition(code == 0, "a thread more is always to be had")
        defer {
            watch.state.withLock { $0.isOver = true }
            pthread_join(thread, nil)
        }
        let result = try body()
        watch.look()
        return (result, watch.state.withLock { $0.highest })
    }

    private func watch() {
        while !state.withLock({ $0.isOver }) {
            look()
            usleep(20_000)
        }
    }

    private func look() {
        guard let now = ProcessUsage.anonymousMebibytes(id) else { return }
        state.withLock { $0.highest = max($0.highest, now) }
    }
}
