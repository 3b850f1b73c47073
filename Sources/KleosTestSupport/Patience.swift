package import Dispatch
import Glibc

/// Waits for what nobody announces, such as a line in another process's log.
package enum Patience {
    private static let limitSeconds = 600

    /// How long a test waits for an event before it gives up.
    package static let limitMilliseconds = Int32(limitSeconds * 1000)

    /// When a test that waits for an event gives up, counted from now.
    package static var end: DispatchTime { .now() + .seconds(limitSeconds) }

    /// Looks at `condition` until it holds, then says true; says false after ten minutes.
    ///
    /// The limit only ends a test that would never end; it is far beyond what a slow machine needs.
    package static func until(_ condition: () throws -> Bool) rethrows -> Bool {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(limitSeconds)
        while true {
            if try condition() { return true }
            if clock.now > end { return false }
            poll(nil, 0, 10)
        }
    }
}
