package import KleosModel

/// How much there is, kept up to date with every change.
package struct OutboxCounters: Sendable, Equatable {
    /// One endpoint's deliveries.
    package struct Endpoint: Sendable, Equatable {
        package var name: String
        /// By state; a state without deliveries is left out.
        package var counts: [DeliveryState: Int] = [:]
        /// When the oldest event that still has a way to go was recorded, Unix milliseconds.
        package var oldestUndeliveredMilliseconds: Int64?
        /// Why the oldest of what is held is held; each once.
        package var heldReasons: [DeliveryReason] = []
    }

    /// In the order of their names.
    package var endpoints: [Endpoint] = []
    /// Notices that nobody was shown yet.
    package var pendingNotices: Int = 0
    /// Events that an operator erased.
    package var forgottenEvents: Int = 0
    /// Dead deliveries that were removed because there were more than the limit.
    package var removedDead: Int = 0
    /// Receipts that were removed early because there was no room.
    package var removedReceipts: Int = 0
    /// The latest moment that is recorded anywhere, Unix milliseconds; nil in an empty outbox.
    package var latestRecordedMilliseconds: Int64?
}

/// What is remembered about an endpoint.
package struct EndpointRecord: Sendable, Equatable {
    package var name: String
    /// The settings with which it last confirmed something.
    package var confirmedFingerprint: String?
    /// Unix milliseconds.
    package var lastSuccessMilliseconds: Int64?
    package var pausedReason: String?
    /// Unix milliseconds.
    package var pausedSinceMilliseconds: Int64?
}

/// The room that the database takes and has.
package struct StorageReport: Sendable, Equatable {
    package var path: String
    package var usedBytes: Int64
    package var limitBytes: Int64
    /// Free on the file system for this user.
    package var freeBytes: Int64
    package var floorBytes: Int64
    /// What the events of one user may take; nil for no limit.
    package var userLimitBytes: Int64?
    /// Whether new events are taken.
    package var isAccepting: Bool
    /// Whether the database came from another machine and waits for `adopt`.
    package var isClone: Bool
    /// Whether the machine has an identity, so that a copy would be noticed.
    package var isMachineKnown: Bool
}

/// What one user's events come to.
package struct UserShare: Sendable, Equatable {
    package var uid: UInt32
    /// About what the user's events and their deliveries take on disk.
    package var usedBytes: Int64
}
