import Dispatch
import Glibc

/// Turns signals into calls on a queue.
final class SignalHandling {
    private let sources: [any DispatchSourceSignal]

    /// Calls `handler` on `queue` for each of `signals`, and `begun` once none of them can be missed any more.
    ///
    /// Dispatch takes a signal over on a thread of its own. Until then the signal has its usual effect: were it ignored
    /// meanwhile, a stop that comes right after the start would be lost, and a process that nothing was promised by is
    /// ended safely.
    init(
        _ signals: [Int32], queue: DispatchQueue, handler: @escaping @Sendable (Int32) -> Void,
        begun: @escaping @Sendable () -> Void
    ) {
        let registrations = DispatchGroup()
        sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.setEventHandler { handler(number) }
            return source
        }
        for source in sources { source.activate() }
        registrations.notify(queue: queue, execute: begun)
    }

    /// A peer that went away is told by the result of the write, not by a signal that ends the process.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
