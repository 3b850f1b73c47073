/// What an administrator decides about the database.
package struct StoreOptions: Sendable, Equatable {
    /// New events are refused once so many bytes of the database are in use.
    package var maximumBytes: Int64
    /// New events of a user are refused once that user's events take about so many bytes.
    package var maximumBytesPerUser: Int64
    /// New events are refused while the file system has less than this free.
    package var freeFloorBytes: Int64
    /// Size of the file that is given up on a full disk, so that deliveries can still be settled; 0 for none.
    package var reserveBytes: Int64
    /// How long what is delivered or discarded stays visible.
    package var deliveredRetentionMilliseconds: Int64
    /// Dead deliveries kept for each submitting user, the oldest beyond it are removed; nil keeps all.
    package var maximumDeadPerUser: Int?
    /// Once a user has so many dead deliveries about one board or achievement, new events about it are refused.
    package var maximumDeadPerItem: Int
    /// How many days a client's id stays known after its event is gone.
    package var idRetentionDays: Int
    /// 32 hexadecimal digits that mask a new database's keys; nil makes them up.
    package var secret: String?
    /// Identifies the machine; where it differs from the one in the database, everything is held. Empty means unknown.
    package var machineID: String
    /// Backups that are kept; the oldest go when a new one is made.
    package var keptBackups: Int
    /// Name of the SQLite file system (VFS) that the database is on; nil is the system's.
    package var sqliteFileSystem: String?

    /// Makes options; the defaults are those of the configuration.
    package init(
        maximumBytes: Int64 = 1 << 30, maximumBytesPerUser: Int64 = .max, freeFloorBytes: Int64 = 64 << 20,
        reserveBytes: Int64 = 4 << 20,
        deliveredRetentionMilliseconds: Int64 = 30 * 86_400_000, maximumDeadPerUser: Int? = nil,
        maximumDeadPerItem: Int = 100_000, idRetentionDays: Int = 365, machineID: String, keptBackups: Int = 3,
        secret: String? = nil, sqliteFileSystem: String? = nil
    ) {
        self.maximumBytes = maximumBytes
        self.maximumBytesPerUser = maximumBytesPerUser
        self.freeFloorBytes = freeFloorBytes
        self.reserveBytes = reserveBytes
        self.deliveredRetentionMilliseconds = deliveredRetentionMilliseconds
        self.maximumDeadPerUser = maximumDeadPerUser
        self.maximumDeadPerItem = maximumDeadPerItem
        self.idRetentionDays = idRetentionDays
        self.secret = secret
        self.machineID = machineID
        self.keptBackups = keptBackups
        self.sqliteFileSystem = sqliteFileSystem
    }
}
