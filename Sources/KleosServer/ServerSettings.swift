import Glibc
package import KleosConfig
package import KleosModel

/// Why the server answers questions only.
package struct ServerFault: Sendable, Equatable {
    /// The errors of the configuration, a line each; for operators.
    package var details: String

    /// Makes a fault.
    package init(details: String) {
        self.details = details
    }
}

/// What the server goes by, as one value that a reload replaces whole.
package struct ServerSettings: Sendable {
    /// By id.
    package var games: [String: Game]
    /// By name.
    package var endpoints: [String: Endpoint]
    package var limits: ConnectionLimits
    /// How much of what clients send is held until it is answered.
    package var intake = IntakeLimits()
    /// Members of this group may use the control socket; nil for root and the daemon's own user only.
    package var controlGID: UInt32?
    /// The user that the daemon runs as.
    package var daemonUID: UInt32
    package var notices: NoticeRoutes
    /// A route holds what it claimed for so long.
    package var noticeClaimMilliseconds: Int64
    /// A connection that takes none of its output for so long is closed.
    package var stallTimeoutMilliseconds: Int
    /// Set while the configuration has errors.
    package var fault: ServerFault?

    /// Makes settings from their parts.
    package init(
        games: [String: Game], endpoints: [String: Endpoint], limits: ConnectionLimits = ConnectionLimits(),
        controlGID: UInt32? = nil, daemonUID: UInt32 = getuid(), stallTimeoutMilliseconds: Int = 30_000,
        notices: NoticeRoutes = NoticeRoutes(), noticeClaimMilliseconds: Int64 = 60_000
    ) {
        self.notices = notices
        self.noticeClaimMilliseconds = noticeClaimMilliseconds
        self.games = games
        self.endpoints = endpoints
        self.limits = limits
        self.controlGID = controlGID
        self.daemonUID = daemonUID
        self.stallTimeoutMilliseconds = stallTimeoutMilliseconds
    }

    /// Takes what concerns the server from a configuration.
    package init(_ configuration: Configuration) {
        self.init(
            games: configuration.games, endpoints: configuration.endpoints, limits: configuration.daemon.limits,
            controlGID: configuration.daemon.controlGID, notices: configuration.daemon.notices)
    }
}
