import KleosSupport

/// `kleosd.conf`: its settings, and how it is read.
package enum DaemonFile {
    static let logLevel = Setting(
        "LogLevel", .choice(LogLevel.allCases.map { ($0.name, $0) }), standard: "info",
        "The least weight of a log line that is written: error (an event may be lost, or the service is down), warning "
            + "(someone should look), notice (a change of state), info (each finished piece of work) or debug.")
    static let controlGroup = Setting(
        "ControlGroup", .text("a group's name"), standard: "kleos-admin",
        "The group whose members may operate the queue through control.sock. Root and the daemon's own user always "
            + "may; they alone may operate a user's own daemon, and a private one where this is not set. Where the service manager makes the socket, its unit's SocketGroup= has to name the same group."
    )
    static let registeredEndpoints = Setting(
        "RegisteredEndpoints", .words("names"), standard: "", standardNote: "no game may", shape: .list,
        "Where events go of games that bring their own catalog (register), by name. For a user's own and private "
            + "daemons.")
    static let loopbackPort = Setting(
        "LoopbackPort", ValueReader.integer(0...65_535).orNothing(), standard: "", standardNote: "none",
        "A port of 127.0.0.1 to listen at, for games that have no Unix sockets; 0 for any that is free. Who connects "
            + "sends the token of the file \"loopback\" beside kleos.sock as the first line. For a user's own and private "
            + "daemons.")

    static let machineIdentity = Setting(
        "MachineIdentity", .text("machine-id, none or a file's path"), standard: "machine-id",
        "By what a queue is told that was copied together with its machine: machine-id (the file /etc/machine-id), a file "
            + "of your own with an id in its first line, or none. Where every boot makes another machine-id, or all copies "
            + "of an image share one, name a file that stays and differs, such as /sys/class/dmi/id/product_uuid.")

    static let maximumSize = Setting(
        "MaximumSize", .size(1 << 20...1 << 44), standard: "512M",
        "The most room that the queue may take on disk. Beyond it new events are refused with queue-full while "
            + "delivery goes on.")
    static let maximumSharePerUser = Setting(
        "MaximumSharePerUser", .percentage(1...100), standard: "50%",
        "How much of MaximumSize= the events of one user may take. Beyond it that user's new events are refused with "
            + "queue-full, while those of others are taken. 100% is no limit.")
    static let keepFree = Setting(
        "KeepFree", .size(0...1 << 44), standard: "64M",
        "New events are refused with queue-full while the file system has less free than this.")
    static let reserve = Setting(
        "Reserve", .size(0...1 << 30), standard: "4M",
        "The size of a file that is given up when the disk is full, so that what is queued can still be delivered.")
    static let keepDelivered = Setting(
        "KeepDelivered", ValueReader.duration(60_000...3_153_600_000_000).orInfinity(), standard: "30d",
        "How long delivered events stay listed. They go earlier where their room is needed, and later where no time source "
            + "disciplines the clock.")
    static let keepIDs = Setting(
        "KeepIds", .integer(1...36_500), standard: "365",
        "How many days a client's id for an event stays known after the event is listed no more, so that the same id never "
            + "counts twice.")
    static let maximumDeadPerUser = Setting(
        "MaximumDeadPerUser", ValueReader.integer(1...10_000_000).orInfinity(), standard: "infinity",
        "Of each user's dead events the newest so many are kept; older ones are removed, and status counts them. By "
            + "default none is ever removed unless somebody discards it.")

    static let maximumDeadPerItem = Setting(
        "MaximumDeadPerItem", .integer(1...10_000_000), standard: "100000",
        "Once a user has so many dead events about one leaderboard or achievement, new ones about it are refused with "
            + "queue-full, and no others: a board that is wrong does not close the others.")

    static let keepBackups = Setting(
        "KeepBackups", .integer(1...1_000), standard: "3",
        "Of the backups that kleos backup makes the newest so many are kept.")

    static let maximumConnections = Setting(
        "MaximumConnections", .integer(1...65_536), standard: "1024", "Connections of all users together.")
    static let maximumConnectionsPerUser = Setting(
        "MaximumConnectionsPerUser", .integer(1...65_536), standard: "256", "Connections of one user.")
    static let maximumUnanswered = Setting(
        "MaximumUnanswered", .integer(1...1_000_000), standard: "1024",
        "Requests of one connection that are not answered yet. At the limit no more are read until answers are out.")
    static let outputLimit = Setting(
        "OutputLimit", .size(2 << 20...1 << 30), standard: "4M",
        "Answers held for a connection that does not read them. Beyond it the connection is closed.")
    static let eventsPerMinute = Setting(
        "EventsPerMinute", ValueReader.integer(1...1_000_000_000).orInfinity(), standard: "infinity",
        "Events that one user may submit in a minute. Beyond it they are refused with rate-limited.")

    static let digestAfter = Setting(
        "DigestAfter", ValueReader.duration(1_000...31_536_000_000).orInfinity(), standard: "1d",
        "Notices of events that are older than this when they can be told are told together, in one digest.")
    static let command = Setting(
        "Command", .words("a path and arguments"), standard: "",
        "A program, by its whole path, and its arguments; it is run without a shell for each notice before "
            + "games and the desktop get it, and is given the notice as one JSON object on standard input. What it does "
            + "not accept with exit status 0 is left to them.")
    static let commandTimeout = Setting(
        "CommandTimeout", .duration(1_000...3_600_000), standard: "30s", "The command is killed after this.")
    static let desktop = Setting(
        "Desktop", .boolean, standard: "yes", "Whether notices are offered to the desktop, through kleos agent.")

    /// What the file may say.
    package static let definition = FileDefinition(
        name: "kleosd.conf",
        documentation: "The daemon itself. Without this file everything is at its default.",
        sections: [
            SectionDefinition(
                name: "Daemon", argument: nil, documentation: "The daemon as a whole.",
                settings: [
                    logLevel.definition, controlGroup.definition, registeredEndpoints.definition,
                    loopbackPort.definition, machineIdentity.definition,
                ]),
            SectionDefinition(
                name: "Storage", argument: nil, documentation: "Room for the queue, and how long things stay in it.",
                settings: [
                    maximumSize.definition, maximumSharePerUser.definition, keepFree.definition, reserve.definition,
                    keepDelivered.definition, keepIDs.definition, maximumDeadPerUser.definition,
                    maximumDeadPerItem.definition, keepBackups.definition,
                ]),
            SectionDefinition(
                name: "Limits", argument: nil, documentation: "What clients of the sockets may ask for.",
                settings: [
                    maximumConnections.definition, maximumConnectionsPerUser.definition,
                    maximumUnanswered.definition, outputLimit.definition, eventsPerMinute.definition,
                ]),
            SectionDefinition(
                name: "Notices", argument: nil, documentation: "How players are told what was confirmed.",
                settings: [
                    digestAfter.definition, command.definition, commandTimeout.definition, desktop.definition,
                ]),
        ])

    /// Reads the settings of `file`.
    static func read(
        _ file: SettingsFile, kind: DaemonKind, accounts: any AccountResolver, report: LoadReport
    ) -> DaemonSettings {
        func section(_ title: String) -> SectionReader { SectionReader(file, title, report) }
        var settings = DaemonSettings()
        let daemon = section("Daemon")
        settings.logLevel = daemon.value(logLevel)
        settings.controlGID = controlGID(daemon, accounts, kind)
        settings.registeredEndpoints = daemon.value(registeredEndpoints)
        settings.loopbackPort = daemon.value(loopbackPort)
        settings.machineIdentity = daemon.value(machineIdentity)
        if kind == .system {
            let reason = "is for a user's own and private daemons: all users' games would come as one user"
            if !settings.registeredEndpoints.isEmpty { daemon.problem(registeredEndpoints.key, reason) }
            if settings.loopbackPort != nil { daemon.problem(loopbackPort.key, reason) }
        }
        settings.storage = storage(section("Storage"))
        settings.limits = limits(section("Limits"))
        settings.notices = notices(section("Notices"))
        return settings
    }

    /// The group of `control.sock`. A user can give it only to a group of their own, and is in no group of operators.
    private static func controlGID(
        _ section: SectionReader, _ accounts: any AccountResolver, _ kind: DaemonKind
    ) -> UInt32? {
        guard kind == .system || kind == .privateFolder && section.isSet(controlGroup) else { return nil }
        let group = section.value(controlGroup)
        if let gid = accounts.gid(ofGroup: group) { return gid }
        if section.isSet(controlGroup) {
            section.problem(controlGroup.key, AccountNames.unknownGroup(group))
        }
        return nil
    }

    private static func storage(_ section: SectionReader) -> StorageSettings {
        var storage = StorageSettings()
        storage.maximumBytes = section.value(maximumSize)
        storage.maximumSharePerUser = section.value(maximumSharePerUser)
        storage.freeFloorBytes = section.value(keepFree)
        storage.reserveBytes = section.value(reserve)
        storage.deliveredRetentionMilliseconds = section.value(keepDelivered)
        storage.idRetentionDays = section.value(keepIDs)
        storage.maximumDeadPerUser = section.value(maximumDeadPerUser)
        storage.maximumDeadPerItem = section.value(maximumDeadPerItem)
        storage.keptBackups = section.value(keepBackups)
        return storage
    }

    private static func limits(_ section: SectionReader) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.maximumConnections = section.value(maximumConnections)
        limits.maximumConnectionsPerUser = section.value(maximumConnectionsPerUser)
        limits.maximumUnanswered = section.value(maximumUnanswered)
        limits.outputLimitBytes = Int(section.value(outputLimit))
        limits.eventsPerMinute = section.value(eventsPerMinute)
        return limits
    }

    private static func notices(_ section: SectionReader) -> NoticeRoutes {
        var notices = NoticeRoutes()
        notices.digestAfterMilliseconds = section.value(digestAfter)
        notices.command = section.value(command)
        if let program = notices.command.first, !program.hasPrefix("/") {
            section.problem(command.key, "the program needs its whole path, which starts with /")
        }
        notices.commandTimeoutMilliseconds = section.value(commandTimeout)
        notices.usesDesktop = section.value(desktop)
        return notices
    }
}
