/// How many bytes of requests are read before answers are out: what is parsed ahead takes several times their length.
package struct IntakeLimits: Sendable, Equatable {
    /// Of one connection.
    package var connectionBytes = 131_072
    /// Of all connections of one user.
    package var userBytes = 524_288
    /// Of all connections, as long as each user has `floorBytes`, so that nobody waits for others alone.
    package var totalBytes = 2_097_152
    /// What a user may have whatever the others have.
    package var floorBytes = 16_384

    /// Makes the limits that the daemon goes by.
    package init() {}
}

/// The lengths of all requests that were read and are not answered yet.
struct Intake {
    private(set) var bytes = 0
    /// The most that it ever was.
    private(set) var peakBytes = 0

    mutating func add(_ count: Int) {
        bytes += count
        peakBytes = max(peakBytes, bytes)
    }

    mutating func remove(_ count: Int) {
        bytes -= count
    }
}
