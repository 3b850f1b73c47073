import Dispatch
package import KleosStore
package import KleosSupport

/// A store in a folder of its own, with a manual clock, that a test talks to synchronously.
package final class TemporaryStore: Sendable {
    package let folder: TemporaryFolder
    package let clock: ManualClock
    package let store: Store

    /// Opens a store; `folder` is an existing one to open again. Throws `StoreError` or `SystemError`.
    package init(
        folder: TemporaryFolder? = nil, clock: ManualClock = ManualClock(),
        options: StoreOptions = StoreOptions(freeFloorBytes: 0, reserveBytes: 0, machineID: "machine-1"),
        log: Log = Log(threshold: .error)
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        self.clock = clock
        store = try Store.open(directory: self.folder.path, options: options, clock: clock, log: log)
    }

    /// Runs `work` in a transaction and returns its result after the COMMIT; never called on the store's queue.
    package func run<T: Sendable>(_ work: @escaping @Sendable (Outbox) throws(StoreError) -> T) throws(StoreError) -> T
    {
        try store.performAndWait(work)
    }

    /// Closes the database and waits for it.
    package func close() {
        let done = DispatchSemaphore(value: 0)
        store.close { done.signal() }
        done.wait()
    }
}
