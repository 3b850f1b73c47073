package import Dispatch

/// A serial executor over a Dispatch queue, so that an actor lives on a queue that timers and sources can target.
package final class QueueExecutor: SerialExecutor {
    /// The serial queue on which every job of the actor runs.
    package let queue: DispatchQueue

    /// Makes an executor with a queue of its own, named `label` in traces.
    ///
    /// All have the default quality of service: on Linux another one becomes a nice value, and raising it again needs
    /// a privilege that a service does not have.
    package init(label: String) {
        queue = DispatchQueue(label: label, qos: .default)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}

/// An actor that lives on a `QueueExecutor` and is entered from Dispatch in first-in first-out order.
package protocol QueueActor: Actor {
    /// The executor whose queue runs the actor.
    nonisolated var executor: QueueExecutor { get }
}

extension QueueActor {
    /// Runs `body` on the actor's queue after everything that was queued before it.
    package nonisolated func async(_ body: @escaping @Sendable (isolated Self) -> Void) {
        executor.queue.async { self.assumeIsolated { body($0) } }
    }

    /// Runs `body` on the actor's queue and waits for it; never call it from that queue.
    package nonisolated func sync<T: Sendable>(_ body: @Sendable (isolated Self) throws -> T) rethrows -> T {
        try executor.queue.sync { try self.assumeIsolated { try body($0) } }
    }
}
