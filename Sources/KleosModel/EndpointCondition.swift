/// How an endpoint is doing.
package struct EndpointCondition: Sendable, Equatable {
    /// The three conditions.
    package enum Kind: String, Sendable, CaseIterable {
        /// Deliveries go out.
        case up
        /// It does not take deliveries; one probe at a time goes out.
        case failing
        /// Nothing goes out until somebody resumes it.
        case paused
    }

    package var name: String
    package var url: String
    package var kind: Kind
    /// Why it is failing or paused, for programs.
    package var cause: TroubleCause?
    /// Why it is failing or paused, as a sentence.
    package var reason: String?
    /// Since when, Unix milliseconds.
    package var sinceMilliseconds: Int64?
    /// When it last confirmed something, Unix milliseconds.
    package var lastSuccessMilliseconds: Int64?
    /// What went wrong last, as a sentence; kept after it is up again.
    package var lastError: String?
    /// When the next delivery goes out as a probe, Unix milliseconds.
    package var nextProbeMilliseconds: Int64?
    /// Until when the endpoint asked not to be called, Unix milliseconds.
    package var throttledUntilMilliseconds: Int64?
    /// The players and boards that the endpoint asked to be spared, the longest first.
    package var partialThrottles: [PartialThrottle]
    /// Requests in flight.
    package var inFlight: Int

    /// Makes a condition from its parts.
    package init(
        name: String, url: String, kind: Kind, cause: TroubleCause? = nil, reason: String? = nil,
        sinceMilliseconds: Int64? = nil,
        lastSuccessMilliseconds: Int64? = nil, lastError: String? = nil, nextProbeMilliseconds: Int64? = nil,
        throttledUntilMilliseconds: Int64? = nil, partialThrottles: [PartialThrottle] = [], inFlight: Int = 0
    ) {
        self.name = name
        self.url = url
        self.kind = kind
        self.cause = cause
        self.reason = reason
        self.sinceMilliseconds = sinceMilliseconds
        self.lastSuccessMilliseconds = lastSuccessMilliseconds
        self.lastError = lastError
        self.nextProbeMilliseconds = nextProbeMilliseconds
        self.throttledUntilMilliseconds = throttledUntilMilliseconds
        self.partialThrottles = partialThrottles
        self.inFlight = inFlight
    }
}
