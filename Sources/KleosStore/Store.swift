package import KleosSupport

/// The actor that owns the database: its queue, its transactions, its group commit.
package actor Store: QueueActor {
    package nonisolated let executor = QueueExecutor(label: "kleos.store")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens or makes the database in `directory`. Throws `StoreError`.
    package static func open(
        directory: String, options: StoreOptions, clock: any Clock, log: Log
    ) throws(StoreError) -> Store { fatalError() }

    /// Runs `work` inside the open transaction and calls `completion` on the store's queue after its COMMIT.
    ///
    /// `work` may run more than once (after a rollback that another's failure caused), so it has no effects but those
    /// on the outbox. `lane` names whoever asks: lanes take turns.
    package nonisolated func perform<T: Sendable>(
        lane: UInt64 = 0, _ work: @escaping @Sendable (Outbox) throws(StoreError) -> T,
        then completion: @escaping @Sendable (Result<T, StoreError>) -> Void
    ) { fatalError() }

    /// Runs `step` in one transaction after another until it returns false, then calls `completion`.
    package nonisolated func performSteps(
        lane: UInt64 = 0, _ step: @escaping @Sendable (Outbox) throws(StoreError) -> Bool,
        then completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) { fatalError() }

    /// Sets what is called on the store's queue after each COMMIT that changed something.
    package nonisolated func setChangeHandler(_ handler: @escaping @Sendable (OutboxChanges) -> Void) { fatalError() }

    /// Sets what is called once when a COMMIT or its sync failed: nothing is answered any more, and the daemon exits.
    package nonisolated func setFailureHandler(_ handler: @escaping @Sendable (StoreError) -> Void) { fatalError() }

    /// Finishes what was handed over before, closes the database and calls `completion`.
    package nonisolated func close(then completion: @escaping @Sendable () -> Void) { fatalError() }
}
