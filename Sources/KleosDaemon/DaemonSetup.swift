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
        let configuration = try load(loader)
        let log = Log(threshold: configuration.daemon.logLevel)
        for warning in configuration.warnings { log(.warning, warning.description) }
        let listeners = try listeners(paths: paths, configuration: configuration)
        let clock = SystemClock()
        let store = try openStore(paths: paths, configuration: configuration, clock: clock, log: log)
        return Daemon(
            store: store, loader: loader, configuration: configuration, listeners: listeners, clock: clock, log: log)
    }

    private static func load(_ loader: ConfigurationLoader) throws(StartError) -> Configuration {
        do throws(ConfigurationErrors) {
            return try loader.load()
        } catch {
            throw StartError(code: .configuration, message: error.description)
        }
    }

    private static func listeners(
        paths: DaemonPaths, configuration: Configuration
    ) throws(StartError) -> [Listener] {
        do throws(ListenerError) {
            let given = try SocketActivation.listeners()
            if !given.isEmpty { return given }
        } catch {
            throw StartError(code: .unavailable, message: error.description)
        }
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
    private static func makeFolder(_ path: String) throws(StartError) {
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
            maximumDeadPerUser: storage.maximumDeadPerUser, machineID: MachineIdentity.read(log: log),
            keptBackups: storage.keptBackups)
        do throws(StoreError) {
            return try Store.open(directory: paths.stateFolder, options: options, clock: clock, log: log)
        } catch {
            throw StartError(code: ExitCode(error), message: error.description)
        }
    }
}
