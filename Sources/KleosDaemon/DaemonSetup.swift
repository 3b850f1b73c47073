import Glibc
import KleosConfig
import KleosDelivery
import KleosModel
import KleosServer
import KleosStore
import KleosSupport
import KleosWire

extension Daemon {
    /// Reads the configuration, takes the sockets and opens the queue. Throws `StartError`.
    static func make(options: DaemonOptions) throws -> Daemon {
        let paths: DaemonPaths
        do throws(DaemonPaths.MissingHome) {
            paths = try DaemonPaths(options: options) { Environment[$0] }
        } catch {
            throw StartError(code: .configuration, message: error.message)
        }
        let loader = ConfigurationLoader(
            sources: paths.sources, daemonUID: getuid(), credentialsDirectory: Environment["CREDENTIALS_DIRECTORY"])
        let activated = try activatedListeners()
        let (configuration, fault) = try load(loader, isActivated: !activated.isEmpty)
        let log = Log(threshold: configuration.daemon.logLevel)
        for warning in configuration.warnings { log(.warning, warning.description) }
        if let fault { tell(fault, log) }
        let listeners = activated.isEmpty ? try ownListeners(paths: paths, configuration: configuration) : activated
        let clock = SystemClock()
        let store = try openStore(paths: paths, configuration: configuration, clock: clock, log: log)
        do throws(SystemError) {
            return try Daemon(
                store: store, loader: loader, configuration: configuration, fault: fault, listeners: listeners,
                socketFolders: paths.socketFolders, spool: (paths.spoolFolder, paths.spoolMode), clock: clock, log: log)
        } catch {
            throw StartError(
                code: .unavailable, message: "\(error); raise the limit of open files (LimitNOFILE=, ulimit -n)")
        }
    }

    /// The configuration; for a socket-activated daemon, where it has errors, that of a daemon without any files, and
    /// the errors.
    ///
    /// A service manager whose sockets start a daemon that ends at once gives up the sockets, too, and then they stay
    /// away when the configuration is mended.
    private static func load(
        _ loader: ConfigurationLoader, isActivated: Bool
    ) throws(StartError) -> (Configuration, ConfigurationErrors?) {
        do throws(ConfigurationErrors) {
            return (try loader.load(), nil)
        } catch {
            guard isActivated else { throw StartError(code: .configuration, message: error.description) }
            var bare = loader
            bare.sources = ConfigurationSources(kind: loader.sources.kind, folders: [])
            do throws(ConfigurationErrors) {
                return (try bare.load(), error)
            } catch {
                throw StartError(code: .configuration, message: error.description)
            }
        }
    }

    private static func tell(_ fault: ConfigurationErrors, _ log: Log) {
        for problem in fault.problems { log(.error, problem.description) }
        log(
            .error,
            "the configuration has errors; nothing is taken or sent until they are mended and kleosd is reloaded")
    }

    private static func activatedListeners() throws(StartError) -> [Listener] {
        do throws(ListenerError) {
            return try SocketActivation.listeners()
        } catch {
            throw StartError(code: .unavailable, message: error.description)
        }
    }

    private static func ownListeners(
        paths: DaemonPaths, configuration: Configuration
    ) throws(StartError) -> [Listener] {
        var listeners: [Listener] = []
        for folder in paths.socketFolders {
            try makeFolder(folder)
            do throws(ListenerError) {
                listeners.append(try SocketBinding.listen(at: "\(folder)/kleos.sock", role: .submit))
                listeners.append(
                    try SocketBinding.listen(
                        at: "\(folder)/control.sock", role: .control, controlGID: configuration.daemon.controlGID))
            } catch {
                throw StartError(code: .unavailable, message: error.description)
            }
        }
        return listeners
    }

    /// Makes `path`, and refuses one in which others could plant a socket or a database.
    static func makeFolder(_ path: String) throws(StartError) {
        let weakness: String?
        do throws(SystemError) {
            try Folder.make(path)
            weakness = try Folder.weakness(of: path, uid: getuid())
        } catch {
            throw StartError(code: .permission, message: "\(error); make it, or start kleosd as a user who may")
        }
        guard let weakness else { return }
        throw StartError(
            code: .permission,
            message: "cannot use \(path): \(weakness); take a folder that only user \(getuid()) can write")
    }

    private static func openStore(
        paths: DaemonPaths, configuration: Configuration, clock: any Clock, log: Log
    ) throws(StartError) -> Store {
        try makeFolder(paths.stateFolder)
        let storage = configuration.daemon.storage
        // A century stands for ever: sums with it still fit.
        let retention = storage.deliveredRetentionMilliseconds ?? 100 * 365 * 86_400_000
        let options = StoreOptions(
            maximumBytes: storage.maximumBytes, maximumBytesPerUser: storage.maximumBytesPerUser,
            freeFloorBytes: storage.freeFloorBytes,
            reserveBytes: storage.reserveBytes, deliveredRetentionMilliseconds: retention,
            maximumDeadPerUser: storage.maximumDeadPerUser, maximumDeadPerItem: storage.maximumDeadPerItem,
            idRetentionDays: storage.idRetentionDays,
            machineID: MachineIdentity.read(configuration.daemon.machineIdentity, log: log),
            keptBackups: storage.keptBackups)
        do throws(StoreError) {
            return try Store.open(directory: paths.stateFolder, options: options, clock: clock, log: log)
        } catch {
            throw StartError(code: ExitCode(error), message: error.description)
        }
    }
}
