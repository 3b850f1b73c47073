package import KleosSupport

/// How old an event is, as far as the clocks can tell.
package enum EventAge {
    /// Milliseconds between two readings: by the boot clock within one boot; across boots by the wall clock, if a time
    /// source disciplined it at both ends; else nil, and nothing expires.
    package static func milliseconds(from recorded: ClockReading, to now: ClockReading) -> Int64? {
        if !recorded.bootID.isEmpty, recorded.bootID == now.bootID {
            return max(0, now.bootMilliseconds - recorded.bootMilliseconds)
        }
        guard recorded.isSynchronized, now.isSynchronized else { return nil }
        return max(0, now.wallMilliseconds - recorded.wallMilliseconds)
    }
}
