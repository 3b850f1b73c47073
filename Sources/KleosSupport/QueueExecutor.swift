package import Dispatch

/// A serial executor over a serial queue, so that an actor lives on a queue that timers and sources can target.
package final class QueueExecutor: SerialExecutor {
    /// The serial queue on which every job of the actor runs.
    package let serial: any SerialQueue

    /// Makes an executor over a Dispatch queue of its own, named `label` in traces.
    package convenience init(label: String) {
        self.init(DispatchedQueue(label: label))
    }

    /// Makes an executor over `serial`.
    package init(_ serial: any SerialQueue) {
        self.serial = serial
    }

    /// The Dispatch queue, for Dispatch sources; traps where the actor lives on a queue of another kind.
    package var queue: DispatchQueue {
        guard let dispatched = serial as? DispatchedQueue else {
            preconditionFailure("this actor does not live on a Dispatch queue")
        }
        return dispatched.dispatch
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        serial.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        serial.requireCurrent()
    }
}

/// An actor that lives on a `QueueExecutor` and is entered from its queue in first-in first-out order.
package protocol QueueActor: Actor {
    /// The executor whose queue runs the actor.
    nonisolated var executor: QueueExecutor { get }
}

// assumeIsolated is sound, here and in the handlers of Dispatch sources: it asks checkIsolated, which ends the process
// on any other queue than the actor's.
extension QueueActor {
    /// Runs `body` on the actor's queue after everything that was queued before it.
    package nonisolated func async(_ body: @escaping @Sendable (isolated Self) -> Void) {
        executor.serial.async { self.assumeIsolated { body($0) } }
    }

    /// Runs `body` on the actor's queue once, no earlier than `milliseconds` from now.
    package nonisolated func after(milliseconds: Int64, _ body: @escaping @Sendable (isolated Self) -> Void) {
        executor.serial.after(milliseconds: milliseconds) { self.assumeIsolated { body($0) } }
    }

    /// Runs `body` on the actor's queue and waits for it; never call it from that queue.
    package nonisolated func sync<T: Sendable, E: Error>(
        _ body: @Sendable (isolated Self) throws(E) -> T
    ) throws(E) -> T {
        var result: Result<T, E>?
        executor.serial.sync {
            result = self.assumeIsolated { actor in Result { () throws(E) -> T in try body(actor) } }
        }
        guard let result else { preconditionFailure("a queue's sync returned without running its work") }
        return try result.get()
    }
}
