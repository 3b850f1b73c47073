import Dispatch
import Synchronization

extension Store {
    /// Runs `work` inside a transaction and waits for its COMMIT; never called on the store's queue.
    ///
    /// Throws `StoreError`, as `work` does or as the transaction failed.
    package nonisolated func performAndWait<T: Sendable>(
        _ work: @escaping @Sendable (Outbox) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        let box = Mutex<Result<T, StoreError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        perform(work) { result in
            box.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = box.withLock({ $0 }) else { preconditionFailure("signalled without a result") }
        return try result.get()
    }
}
