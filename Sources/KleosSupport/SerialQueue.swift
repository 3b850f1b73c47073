package import Dispatch

/// A serial queue with timers, on which an actor lives: Dispatch's in a program, one that is stepped in a simulation.
package protocol SerialQueue: AnyObject, Sendable {
    /// Runs `work` after everything that was handed over before it.
    func async(_ work: @escaping @Sendable () -> Void)
    /// Runs `work` after everything that was handed over before it, and waits for it; never called from this queue.
    func sync(_ work: () -> Void)
    /// Runs `work` once, no earlier than `milliseconds` from now.
    func after(milliseconds: Int64, _ work: @escaping @Sendable () -> Void)
    /// Makes a timer that runs `handler` on this queue and is not scheduled yet.
    func makeTimer(_ handler: @escaping @Sendable () -> Void) -> any WakeTimer
    /// Traps where the caller does not run on this queue.
    func requireCurrent()
}

/// A timer that goes off once each time it is scheduled.
package protocol WakeTimer: AnyObject {
    /// Goes off `milliseconds` from now, or up to `leewayMilliseconds` later, in place of when it was to go off before;
    /// nil for not at all.
    func schedule(milliseconds: Int64?, leewayMilliseconds: Int64)
    /// Never goes off again.
    func cancel()
}

/// Dispatch's serial queue.
package final class DispatchedQueue: SerialQueue {
    /// The queue itself, for Dispatch sources.
    package let dispatch: DispatchQueue

    /// Makes a queue named `label` in traces.
    ///
    /// All have the default quality of service: on Linux another one becomes a nice value, and raising it again needs
    /// a privilege that a service does not have.
    package init(label: String) {
        dispatch = DispatchQueue(label: label, qos: .default)
    }

    package func async(_ work: @escaping @Sendable () -> Void) { dispatch.async(execute: work) }

    package func sync(_ work: () -> Void) { dispatch.sync(execute: work) }

    package func after(milliseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        dispatch.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: milliseconds)), execute: work)
    }

    package func makeTimer(_ handler: @escaping @Sendable () -> Void) -> any WakeTimer {
        DispatchedTimer(queue: dispatch, handler)
    }

    package func requireCurrent() { dispatchPrecondition(condition: .onQueue(dispatch)) }
}

/// A Dispatch timer source.
private final class DispatchedTimer: WakeTimer {
    private let source: any DispatchSourceTimer

    init(queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: handler)
        source.activate()
    }

    deinit { source.cancel() }

    func schedule(milliseconds: Int64?, leewayMilliseconds: Int64) {
        guard let milliseconds else { return source.schedule(deadline: .distantFuture) }
        source.schedule(
            deadline: .now() + .milliseconds(Int(clamping: milliseconds)),
            leeway: .milliseconds(Int(clamping: leewayMilliseconds)))
    }

    func cancel() { source.cancel() }
}
