/// When a failed attempt is repeated: full jitter, `random(floor, min(cap, base × 2ⁿ))`.
///
/// | attempts made | ceiling with base 2 s, cap 1 h |
/// |---|---|
/// | 1 | 2 s |
/// | 2 | 4 s |
/// | 3 | 8 s |
/// | 8 | 256 s |
/// | 12 and more | 1 h |
///
/// Source: "Exponential Backoff And Jitter", AWS Architecture Blog.
package struct RetryPolicy: Sendable, Equatable {
    /// Ceiling after the first attempt.
    package var baseMilliseconds: Int64
    /// No ceiling is above this.
    package var capMilliseconds: Int64
    /// No delay is below this.
    package var floorMilliseconds: Int64

    /// A server's own wish is honoured up to this: 24 hours.
    package static let maximumRetryAfterMilliseconds: Int64 = 86_400_000

    /// Makes a policy; all in milliseconds, `0 < floor ≤ base ≤ cap`.
    package init(baseMilliseconds: Int64 = 2_000, capMilliseconds: Int64 = 3_600_000, floorMilliseconds: Int64 = 250) {
        precondition(
            0 < floorMilliseconds && floorMilliseconds <= baseMilliseconds && baseMilliseconds <= capMilliseconds)
        self.baseMilliseconds = baseMilliseconds
        self.capMilliseconds = capMilliseconds
        self.floorMilliseconds = floorMilliseconds
    }

    /// The delay after `attemptsMade` attempts (1 or more), in milliseconds.
    package func delayMilliseconds(attemptsMade: Int, random: inout some RandomNumberGenerator) -> Int64 {
        let exponent = min(max(0, attemptsMade - 1), 40)
        let (product, overflowed) = baseMilliseconds.multipliedReportingOverflow(by: 1 << Int64(exponent))
        let ceiling = overflowed ? capMilliseconds : min(capMilliseconds, product)
        return Int64.random(in: floorMilliseconds...max(floorMilliseconds, ceiling), using: &random)
    }

    /// The delay for a service that asked for `retryAfterMilliseconds`: clamped to 0 … 24 h, then jittered upwards
    /// only, by at most a tenth or one second, whichever is more.
    package func delayMilliseconds(
        retryAfterMilliseconds: Int64, random: inout some RandomNumberGenerator
    ) -> Int64 {
        let wish = min(max(0, retryAfterMilliseconds), Self.maximumRetryAfterMilliseconds)
        return max(floorMilliseconds, wish) + Int64.random(in: 0...max(1_000, wish / 10), using: &random)
    }
}
