package import KleosSupport

/// A token bucket: so many requests a minute, spread out, with a small burst. Pure.
package struct RequestBudget: Sendable, Equatable {
    private let perMinute: Int64
    private let burst: Int64
    /// In sixty-thousandths of a request, so that a millisecond's share is a whole number.
    private var level: Int64
    private var atBootMilliseconds: Int64?

    private static let unit: Int64 = 60_000

    /// Makes a full bucket; `perMinute` and `burst` are at least 1.
    package init(perMinute: Int, burst: Int) {
        self.perMinute = Int64(max(1, perMinute))
        self.burst = Int64(max(1, min(burst, perMinute)))
        level = self.burst * Self.unit
    }

    /// How many requests may go out now.
    package mutating func available(now: ClockReading) -> Int {
        let elapsed = max(0, now.bootMilliseconds - (atBootMilliseconds ?? now.bootMilliseconds))
        atBootMilliseconds = now.bootMilliseconds
        // A week of saving up is no more than a full bucket, and does not overflow.
        let earned = min(elapsed, Self.unit) * perMinute
        level = min(burst * Self.unit, level + earned)
        return Int(max(0, level) / Self.unit)
    }

    /// Takes `count` requests out.
    package mutating func take(_ count: Int) {
        level -= Int64(count) * Self.unit
    }

    /// Puts `count` requests back that did not go out.
    package mutating func giveBack(_ count: Int) {
        level = min(burst * Self.unit, level + Int64(count) * Self.unit)
    }

    /// Milliseconds from `now` until one request may go out.
    package func millisecondsUntilNext(now: ClockReading) -> Int64 {
        let elapsed = max(0, now.bootMilliseconds - (atBootMilliseconds ?? now.bootMilliseconds))
        return max(0, (Self.unit - level + perMinute - 1) / perMinute - elapsed)
    }
}
