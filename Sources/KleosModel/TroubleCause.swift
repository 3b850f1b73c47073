/// Why an endpoint takes no deliveries, in words that programs go by.
package enum TroubleCause: String, Sendable, CaseIterable {
    /// Its name cannot be resolved.
    case dns
    case refused
    case unreachable
    case timeout
    case certificateExpired = "certificate-expired"
    case certificateNotYetValid = "certificate-not-yet-valid"
    /// No secure connection for another reason.
    case tls
    /// The connection broke, or the answer was no HTTP.
    case broken
    /// The request cannot be made: a URL that is none, or plain http to another machine.
    case unusable
    /// An answer that is not of the contract: a captive portal, a proxy, another service.
    case unexpectedAnswer = "unexpected-answer"
    case serverErrors = "server-errors"
    /// It refuses the credentials, and was paused for that.
    case credentials
    /// It refused everything and never confirmed anything, and was paused for that.
    case rejecting
    /// It left the configuration.
    case unconfigured
    /// An operator paused it.
    case paused

    /// Those that stand in front of a pause's reason, since pauses are kept as sentences.
    private static let marked: [TroubleCause] = [.credentials, .rejecting]

    /// The reason of a pause that the daemon makes by itself.
    package static func reason(_ cause: TroubleCause, _ words: String) -> String { "\(cause.rawValue): \(words)" }

    /// What led to a pause with this reason.
    package static func ofPause(reason: String) -> TroubleCause {
        marked.first { reason.hasPrefix("\($0.rawValue): ") } ?? .paused
    }
}
