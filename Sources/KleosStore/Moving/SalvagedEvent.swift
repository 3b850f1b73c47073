package import KleosModel

/// An event of another outbox, a set-aside or an exported one, with all that is known of its deliveries.
package struct SalvagedEvent: Sendable {
    /// One of its deliveries; endpoints by name, because their numbers mean nothing elsewhere.
    package struct Delivery: Sendable {
        package var endpoint: String
        package var way: FanOut
        package var state: DeliveryState
        package var reason: String?
        package var message: String?
        package var dueMilliseconds: Int64
        package var attempts: Int64
        package var inherited: Int64
        package var serverErrors: Int64
        package var isUnanswered: Bool
        package var ignoresAge: Bool
        package var isDiscarded: Bool
        package var settledMilliseconds: Int64?
        package var confirmation: Confirmation
        /// Whether what replaced it was delivered, or was a better standing.
        package var isReplacedForGood: Bool
        package var rendering: [UInt8]?
        package var receipt: [Attempt]

        /// Makes a delivery from its parts.
        package init(
            endpoint: String, way: FanOut, state: DeliveryState, reason: String?, message: String?,
            dueMilliseconds: Int64, attempts: Int64, inherited: Int64, serverErrors: Int64, isUnanswered: Bool,
            ignoresAge: Bool, isDiscarded: Bool, settledMilliseconds: Int64?, confirmation: Confirmation,
            isReplacedForGood: Bool, rendering: [UInt8]?, receipt: [Attempt]
        ) {
            self.endpoint = endpoint
            self.way = way
            self.state = state
            self.reason = reason
            self.message = message
            self.dueMilliseconds = dueMilliseconds
            self.attempts = attempts
            self.inherited = inherited
            self.serverErrors = serverErrors
            self.isUnanswered = isUnanswered
            self.ignoresAge = ignoresAge
            self.isDiscarded = isDiscarded
            self.settledMilliseconds = settledMilliseconds
            self.confirmation = confirmation
            self.isReplacedForGood = isReplacedForGood
            self.rendering = rendering
            self.receipt = receipt
        }
    }

    package var event: Event
    package var deliveries: [Delivery]

    /// Makes an event with its deliveries.
    package init(event: Event, deliveries: [Delivery]) {
        self.event = event
        self.deliveries = deliveries
    }
}

/// The best that was confirmed in one stream of another outbox.
package struct SalvagedStanding: Sendable {
    package var stream: StreamKey
    package var confirmed: StandingMark

    /// Makes a standing.
    package init(stream: StreamKey, confirmed: StandingMark) {
        self.stream = stream
        self.confirmed = confirmed
    }
}
