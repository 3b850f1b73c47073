package import KleosModel

/// A delivery that is being sent, with all that is needed to send it.
package struct Claim: Sendable, Equatable {
    package var id: DeliveryID
    package var event: Event
    package var stream: StreamKey
    package var confirms: Bool
    /// Attempts at this delivery before the claimed one.
    package var attemptsMade: Int
    /// Attempts that backoff counts: `attemptsMade`, and those of deliveries that this one replaced.
    package var backoffAttempts: Int
    /// Attempts that ended in a 5xx.
    package var serverErrors: Int
    /// When the claim before this one was made, Unix milliseconds; nil for the first.
    package var lastClaimedMilliseconds: Int64?
    /// Whether an earlier attempt may have taken effect unanswered.
    package var mayHaveTakenEffect: Bool
    /// The first rendering, byte for byte, where one was saved.
    package var rendering: [UInt8]?
    /// Whether an operator asked to send it whatever its age.
    package var ignoresAge: Bool
    /// When the event was recorded, Unix milliseconds.
    package var createdMilliseconds: Int64
}

/// What settling a delivery came to.
package struct SettleResult: Sendable, Equatable {
    /// The delivery's state now.
    package var state: DeliveryState
    /// Whether the delivery was not in flight any more, so that nothing was changed.
    package var isStale: Bool = false
    /// The notice that was made.
    package var notice: Notice?
}

/// What start-up recovery did to deliveries that were in flight when the daemon ended.
package struct RecoveryReport: Sendable, Equatable {
    /// Returned to their streams.
    package var returned: Int = 0
    /// Ended dead, because a second send would count twice.
    package var ambiguous: Int = 0
    /// Held after a restore, because a second send would count twice.
    package var held: Int = 0
    /// Due times that were implausibly far ahead.
    package var clamped: Int = 0
}

/// One step of ending what is too old.
package struct ExpireReport: Sendable, Equatable {
    package var expired: Int = 0
    /// Where the next step goes on; nil when there is nothing more to look at.
    package var next: DeliveryID?
}
