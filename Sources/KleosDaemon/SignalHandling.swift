import Dispatch
import Glibc

/// Turns signals into calls on a queue.
final class SignalHandling {
    private let sources: [any DispatchSourceSignal]

    /// Calls `handler` on `queue` for each of `signals` from now on; their usual effect is switched off.
    init(_ signals: [Int32], queue: DispatchQueue, handler: @escaping @Sendable (Int32) -> Void) {
        sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { handler(number) }
            source.activate()
            return source
        }
    }

    /// A peer that went away is told by the result of the write, not by a signal that ends the process.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
