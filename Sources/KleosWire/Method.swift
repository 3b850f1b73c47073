import KleosSupport

/// The methods of the protocol.
package enum Method: String, Sendable, CaseIterable {
    case hello
    case submit
    case list
    case show
    case status
    case standing
    case notices
    case claimNotices = "notices.claim"
    case acknowledgeNotices = "notices.acknowledge"
    case openNotice = "notices.open"
    case subscribe
    case presence
    case register
    case retry
    case hold
    case release
    case discard
    case pause
    case resume
    case flush
    case reload
    case config
    case backup
    case salvage
    case forget
    case adopt
    case reset
    case exportEvents = "export"
    case importEvents = "import"

    /// Whether it operates the queue and is answered on `control.sock` only.
    package var needsControl: Bool {
        switch self {
        case .retry, .hold, .release, .discard, .pause, .resume, .flush, .reload, .config, .backup, .salvage, .forget,
            .adopt, .reset, .exportEvents, .importEvents:
            true
        default: false
        }
    }
}

/// The protocol's version and the program's.
package enum ProtocolVersion {
    /// Grows with each change that an older client would misread.
    package static let number: Int64 = 1
    /// The version of kleos.
    package static let program = ProgramVersion.text
    /// What this daemon can do beyond the first version of the protocol; a client asks before it relies on one.
    package static let features = ["batch", "subscribe", "standing", "notices", "presence", "register", "open"]
}
