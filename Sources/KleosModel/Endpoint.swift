/// What a service does with a second submission of the same event.
package enum ResendEffect: String, Sendable, CaseIterable {
    /// The service knows the idempotency key and answers the second as the first.
    case keyed
    /// The service keeps the best, so that a second send changes nothing.
    case keepsBest = "keeps-best"
    /// What is sent overwrites what was there.
    case lastWrite = "last-write"
    /// A second send counts twice.
    case accumulates
}

/// What becomes of an event that is older than its endpoint's maximum age.
package enum OverageRule: String, Sendable, CaseIterable {
    /// It ends dead, with reason `expired`.
    case expire
    /// It is sent all the same.
    case send
    /// It is sent as if it had happened at the age limit.
    case clamp
}

/// How far a service's request to slow down reaches.
package enum ThrottleScope: String, Sendable, CaseIterable {
    case endpoint
    case player
    case board
}

/// A service that events are submitted to, with the rules for dealing with it.
package struct Endpoint: Sendable, Equatable {
    package var name: String
    /// Base URL without a trailing slash.
    package var url: String
    package var resend: ResendEffect
    /// Whether the operator accepts that an event counts twice rather than not at all (for `accumulates`).
    package var isAtLeastOnce: Bool
    package var retry: RetryPolicy
    /// Events older than this are treated as `whenOlder` says; nil for no limit.
    package var maximumAgeMilliseconds: Int64?
    package var whenOlder: OverageRule
    /// So many 5xx for one delivery, from an endpoint that confirms others meanwhile, end it.
    package var maximumServerErrors: Int
    package var throttleScope: ThrottleScope
    /// Requests in flight at once.
    package var maximumInFlight: Int
    /// Requests a minute; nil for no limit.
    package var requestsPerMinute: Int?
    package var connectTimeoutMilliseconds: Int64
    package var timeoutMilliseconds: Int64
    /// Answers larger than this are cut off and count as unusable.
    package var maximumAnswerBytes: Int
    /// Whether plain http to hosts other than loopback is allowed.
    package var allowsInsecure: Bool
    /// A file with certificate authorities in PEM form, trusted in place of the system's.
    package var certificateAuthorityFile: String?
    /// Sent as `Authorization: Bearer …`.
    package var token: Secret?

    /// Makes an endpoint; the defaults are those of an endpoint's file.
    package init(
        name: String, url: String, resend: ResendEffect = .keyed, isAtLeastOnce: Bool = false,
        retry: RetryPolicy = RetryPolicy(), maximumAgeMilliseconds: Int64? = 30 * 86_400_000,
        whenOlder: OverageRule = .expire, maximumServerErrors: Int = 20, throttleScope: ThrottleScope = .endpoint,
        maximumInFlight: Int = 8, requestsPerMinute: Int? = nil, connectTimeoutMilliseconds: Int64 = 10_000,
        timeoutMilliseconds: Int64 = 30_000, maximumAnswerBytes: Int = 262_144, allowsInsecure: Bool = false,
        certificateAuthorityFile: String? = nil, token: Secret? = nil
    ) {
        self.name = name
        self.url = url
        self.resend = resend
        self.isAtLeastOnce = isAtLeastOnce
        self.retry = retry
        self.maximumAgeMilliseconds = maximumAgeMilliseconds
        self.whenOlder = whenOlder
        self.maximumServerErrors = maximumServerErrors
        self.throttleScope = throttleScope
        self.maximumInFlight = maximumInFlight
        self.requestsPerMinute = requestsPerMinute
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumAnswerBytes = maximumAnswerBytes
        self.allowsInsecure = allowsInsecure
        self.certificateAuthorityFile = certificateAuthorityFile
        self.token = token
    }

    /// Identifies the settings that decide where a request goes and what an answer means: a confirmation earned with
    /// other settings proves nothing about these. Holds no secret.
    package var fingerprint: String {
        "1 \(url) \(resend.rawValue)"
    }
}

/// A value that never shows in text made of it: logs, errors, descriptions.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value itself, for the one place that sends it.
    package let exposed: String

    /// Wraps `value`.
    package init(_ value: String) {
        exposed = value
    }

    package var description: String { "(secret)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(reflecting: description) }
}
