import Dispatch
import Glibc
import KleosTestSupport
import Testing

@testable import KleosDaemon

@Suite struct SignalHandlingTests {
    /// A signal that is missed here ends the whole run.
    @Test func aSignalThatComesAtOnceIsNotMissed() {
        let queue = DispatchQueue(label: "signals")
        for _ in 0..<100 {
            let handled = DispatchSemaphore(value: 0)
            let handling = SignalHandling([SIGWINCH, SIGUSR2], queue: queue) { number in
                if number == SIGUSR2 { handled.signal() }
            } begun: {
                kill(getpid(), SIGUSR2)
            }
            withExtendedLifetime(handling) { #expect(handled.wait(timeout: Patience.end) == .success) }
        }
    }
}
