package import KleosModel

/// A delivery that changed its state.
package struct DeliveryChange: Sendable, Equatable {
    package var key: EventKey
    package var endpoint: String
    package var game: String
    package var player: String
    /// The user who submitted the event.
    package var uid: UInt32
    /// Nil for a new delivery.
    package var from: DeliveryState?
    package var to: DeliveryState
    package var reason: DeliveryReason?
}

/// What one transaction changed; told after its COMMIT.
package struct OutboxChanges: Sendable, Equatable {
    /// Endpoints that have something to send, or something due at another time than before.
    package var readyEndpoints: Set<String> = []
    /// In the order in which they happened.
    package var deliveries: [DeliveryChange] = []
    /// Notices that were made, or that are told from now on.
    package var notices: [Notice] = []
    /// Notices that their route gave up, so that others may have them.
    package var returnedNotices: [Notice] = []

    /// Makes a record of changes.
    package init(
        readyEndpoints: Set<String> = [], deliveries: [DeliveryChange] = [], notices: [Notice] = [],
        returnedNotices: [Notice] = []
    ) {
        self.readyEndpoints = readyEndpoints
        self.deliveries = deliveries
        self.notices = notices
        self.returnedNotices = returnedNotices
    }

    /// Whether nothing changed.
    package var isEmpty: Bool {
        readyEndpoints.isEmpty && deliveries.isEmpty && notices.isEmpty && returnedNotices.isEmpty
    }
}
