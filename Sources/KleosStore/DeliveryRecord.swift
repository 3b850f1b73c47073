package import KleosModel

/// One delivery as it is listed and shown.
package struct DeliveryRecord: Sendable, Equatable {
    package var id: DeliveryID
    package var key: EventKey
    package var clientID: String?
    package var endpoint: String
    package var game: String
    package var player: String
    package var subject: Subject
    /// The user who submitted.
    package var uid: UInt32
    package var state: DeliveryState
    package var reason: DeliveryReason?
    /// The reason in words, often the service's own.
    package var message: String?
    package var priority: DeliveryPriority
    /// Attempts made.
    package var attempts: Int
    /// When it is sent next, Unix milliseconds; nil unless it is ready.
    package var dueMilliseconds: Int64?
    /// When the event was recorded, Unix milliseconds.
    package var createdMilliseconds: Int64
    /// When the event happened, Unix milliseconds.
    package var occurredMilliseconds: Int64
    /// When its state became final, Unix milliseconds.
    package var settledMilliseconds: Int64?
    /// The event that replaced it.
    package var supersededBy: EventKey?
    /// What the endpoint said when it confirmed.
    package var confirmation: Confirmation?
}

/// Some deliveries in the order of a list.
package struct DeliveryPage: Sendable, Equatable {
    package var deliveries: [DeliveryRecord] = []
    /// Where the next page begins; nil after the last. A page may be empty and still have a next one.
    package var cursor: String?
}

/// One event with everything that is known of it.
package struct EventRecord: Sendable, Equatable {
    /// A delivery with its attempts.
    package struct Delivery: Sendable, Equatable {
        package var record: DeliveryRecord
        /// The first ten and the last ten, in order.
        package var attempts: [Attempt]
    }

    package var event: Event
    package var deliveries: [Delivery]
}
