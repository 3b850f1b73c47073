package import KleosSupport

/// Limits on the queue's room and on how long things stay in it.
package struct StorageSettings: Sendable, Equatable {
    /// Cap on the database's used pages, in bytes.
    package var maximumBytes: Int64 = 512 << 20
    /// How much of that the events of one user may take, in per cent; 100 for no limit.
    package var maximumSharePerUser: Int = 50
    /// New events are refused while the file system has less free than this.
    package var freeFloorBytes: Int64 = 64 << 20
    /// Size of the file that is given up when the disk is full, so that deliveries can still be settled.
    package var reserveBytes: Int64 = 4 << 20
    /// How long delivered events stay listed; nil for ever.
    package var deliveredRetentionMilliseconds: Int64? = 30 * 86_400_000
    /// Backups that are kept; the oldest go when a new one is made.
    package var keptBackups: Int = 3
    /// Above so many dead deliveries of one user, that user's oldest are removed; nil for never.
    package var maximumDeadPerUser: Int?
    /// Once a user has so many dead deliveries about one item, new events about it are refused.
    package var maximumDeadPerItem: Int = 100_000
    /// How many days a client's id stays known after its event is listed no more.
    package var idRetentionDays: Int = 365

    /// The defaults.
    package init() {}

    /// What the events of one user may take, in bytes.
    package var maximumBytesPerUser: Int64 {
        maximumSharePerUser >= 100 ? .max : maximumBytes * Int64(maximumSharePerUser) / 100
    }
}

/// Limits on clients of the sockets.
package struct ConnectionLimits: Sendable, Equatable {
    /// Connections of all users together.
    package var maximumConnections: Int = 1_024
    /// Connections of one user.
    package var maximumConnectionsPerUser: Int = 256
    /// Requests of one connection that are not answered yet; beyond it reading stops.
    package var maximumUnanswered: Int = 1_024
    /// Answers held for a connection that does not read, in bytes; beyond it the connection is closed.
    package var outputLimitBytes: Int = 4 << 20
    /// Events that one user may submit in a minute; nil for no limit.
    package var eventsPerMinute: Int?

    /// The defaults.
    package init() {}
}

/// How notices reach people.
package struct NoticeRoutes: Sendable, Equatable {
    /// Notices that waited longer than this are told together, in milliseconds; nil for never.
    package var digestAfterMilliseconds: Int64? = 86_400_000
    /// Program and arguments that get each notice as JSON on standard input; empty for none.
    package var command: [String] = []
    /// The command is killed after this.
    package var commandTimeoutMilliseconds: Int64 = 30_000
    /// Whether notices are offered to the desktop agent.
    package var usesDesktop = true

    /// The defaults.
    package init() {}
}

/// What `kleosd.conf` says.
package struct DaemonSettings: Sendable, Equatable {
    package var logLevel: LogLevel = .info
    /// The group that may use the control socket; nil where the machine has no such group, then only the daemon's
    /// own user and root may.
    package var controlGID: UInt32?
    /// The endpoints of games that bring their own catalog; empty where none may.
    package var registeredEndpoints: [String] = []
    /// The port of 127.0.0.1 to listen at, 0 for any that is free; nil for none.
    package var loopbackPort: Int?
    /// Where the machine's identity comes from: `machine-id`, `none`, or the path of a file.
    package var machineIdentity = "machine-id"
    package var storage = StorageSettings()
    package var limits = ConnectionLimits()
    package var notices = NoticeRoutes()

    /// The defaults.
    package init() {}
}
