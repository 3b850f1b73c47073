package import KleosModel
package import KleosSupport

/// The outbox inside the open transaction; used only within `Store.perform`.
package final class Outbox {
    init() {}
    package func accept(_ event: Event, fanOut: [FanOut]) throws(StoreError) -> AcceptResult { fatalError() }
    package func claim(
        endpoint: String, limit: Int, nowMilliseconds: Int64, excludingPlayers: Set<String> = [],
        excludingItems: Set<String> = []
    ) throws(StoreError) -> [Claim] { fatalError() }
    package func saveRendering(_ bytes: [UInt8], for id: DeliveryID) throws(StoreError) { fatalError() }
    package func giveBack(_ id: DeliveryID, now: ClockReading) throws(StoreError) { fatalError() }
    package func settle(
        _ id: DeliveryID, attempt: Attempt, settlement: Settlement, mayHaveTakenEffect: Bool, now: ClockReading
    ) throws(StoreError) -> SettleResult { fatalError() }
    package func nextDueMilliseconds(
        endpoint: String, excludingPlayers: Set<String> = [], excludingItems: Set<String> = []
    ) throws(StoreError) -> Int64? { fatalError() }
    package func expire(
        endpoint: String, maximumAgeMilliseconds: Int64, limit: Int, after: DeliveryID? = nil, now: ClockReading
    ) throws(StoreError) -> ExpireReport { fatalError() }
    package func bringForward(endpoint: String, nowMilliseconds: Int64) throws(StoreError) { fatalError() }
    package func recover(
        atMostOnceEndpoints: Set<String>,
        maximumDelayMilliseconds: Int64 = RetryPolicy.maximumRetryAfterMilliseconds * 11 / 10, now: ClockReading
    ) throws(StoreError) -> RecoveryReport { fatalError() }
    /// Returns whether the caller has to call again.
    package func reconcile(games: Set<String>, endpoints: Set<String>, now: ClockReading) throws(StoreError) -> Bool {
        fatalError()
    }
    package func adopt(now: ClockReading) throws(StoreError) -> Bool { fatalError() }
    package func list(
        _ filter: DeliveryFilter, visibleTo uid: UInt32?, cursor: String? = nil, limit: Int
    ) throws(StoreError) -> DeliveryPage { fatalError() }
    package func show(key: EventKey, visibleTo uid: UInt32?) throws(StoreError) -> EventRecord? { fatalError() }
    package func show(clientID: String, game: String, uid: UInt32) throws(StoreError) -> EventRecord? { fatalError() }
    package func standings(_ query: StandingQuery) throws(StoreError) -> [Standing] { fatalError() }
    package func notices(_ query: NoticeQuery) throws(StoreError) -> [Notice] { fatalError() }
    package func claimNotices(
        route: String, uid: UInt32, limit: Int, claimTimeoutMilliseconds: Int64 = 60_000, now: ClockReading
    ) throws(StoreError) -> [Notice] { fatalError() }
    package func acknowledgeNotices(_ numbers: [Int64], route: String, uid: UInt32, now: ClockReading)
        throws(StoreError) -> Int
    { fatalError() }
    package func retry(_ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading)
        throws(StoreError) -> OperationReport
    { fatalError() }
    package func hold(_ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading)
        throws(StoreError) -> OperationReport
    { fatalError() }
    package func release(_ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading)
        throws(StoreError) -> OperationReport
    { fatalError() }
    package func discard(_ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading)
        throws(StoreError) -> OperationReport
    { fatalError() }
    package func counters() throws(StoreError) -> OutboxCounters { fatalError() }
    package func endpointRecord(_ name: String) throws(StoreError) -> EndpointRecord { fatalError() }
    package func markConfirmed(endpoint: String, fingerprint: String, nowMilliseconds: Int64) throws(StoreError) {
        fatalError()
    }
    package func setPause(endpoint: String, player: String? = nil, reason: String, nowMilliseconds: Int64)
        throws(StoreError)
    { fatalError() }
    package func clearPause(endpoint: String, player: String? = nil) throws(StoreError) { fatalError() }
    package func pauses() throws(StoreError) -> [Pause] { fatalError() }
    package func maintain(now: ClockReading) throws(StoreError) -> Bool { fatalError() }
    package func storage() throws(StoreError) -> StorageReport { fatalError() }
}
