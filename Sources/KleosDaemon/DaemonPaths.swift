import KleosConfig
import KleosSupport

/// Where a daemon reads and writes.
struct DaemonPaths: Sendable, Equatable {
    /// Holds the database.
    var stateFolder: String
    /// Each holds a pair of sockets, unless the service manager passes them.
    var socketFolders: [String]
    /// Holds what clients leave while the daemon does not answer.
    var spoolFolder: String
    /// The mode of that folder: of the system's daemon everybody may add a file and nobody may list them.
    var spoolMode: UInt32
    var sources: ConfigurationSources

    /// Why there is no place for a daemon.
    struct MissingHome: Error, Equatable {
        let message = "a user's own daemon needs HOME; set it, or use --private FOLDER"
    }

    /// Decides by options and environment variables; `environment` gives a variable's value, nil where it is not set.
    init(options: DaemonOptions, environment: (String) -> String?) throws(MissingHome) {
        switch options.kind {
        case .system:
            stateFolder = environment("STATE_DIRECTORY") ?? "/var/lib/kleos"
            socketFolders = ["/run/kleos"]
            sources = .system
        case .user:
            guard let home = environment("HOME") else { throw MissingHome() }
            stateFolder = (environment("XDG_STATE_HOME") ?? "\(home)/.local/state") + "/kleos"
            let runtime = environment("XDG_RUNTIME_DIR").map { ["\($0)/kleos"] } ?? []
            socketFolders = runtime + ["\(home)/.local/share/kleos"]
            sources = .user(
                configHome: environment("XDG_CONFIG_HOME") ?? "\(home)/.config",
                dataHome: environment("XDG_DATA_HOME") ?? "\(home)/.local/share")
        case .privateFolder:
            let folder = options.privateFolder ?? "."
            stateFolder = folder
            socketFolders = [folder]
            sources = .only(folder)
        }
        if let folder = options.configurationFolder {
            sources = ConfigurationSources(kind: options.kind, folders: [folder])
        }
        stateFolder = options.stateFolder ?? stateFolder
        if options.kind != .system { sources.registeredFolder = "\(stateFolder)/registered.d" }
        let isSystemWide = options.kind == .system
        spoolMode = isSystemWide ? 0o3733 : 0o700
        spoolFolder =
            options.spoolFolder
            ?? (isSystemWide && options.stateFolder == nil ? "/var/spool/kleos" : "\(stateFolder)/spool")
        socketFolders = options.socketFolder.map { [$0] } ?? socketFolders
    }
}
