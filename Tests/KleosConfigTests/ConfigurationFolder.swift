import Glibc
import KleosConfig
import KleosSupport
import KleosTestSupport

/// Users and groups that exist only here.
struct FixedAccounts: AccountResolver {
    var users: [String: UInt32] = ["ada": 1_001, "kleos": 990]
    var groups: [String: UInt32] = ["kleos": 990, "kleos-admin": 991, "players": 2_000]

    func uid(ofUser user: String) -> UInt32? { users[user] }
    func gid(ofGroup group: String) -> UInt32? { groups[group] }
}

/// A folder with configuration files for one test. Files are named as they are below it.
struct ConfigurationFolder {
    private let folder: TemporaryFolder
    var accounts: any AccountResolver = FixedAccounts()
    var credentialsDirectory: String?
    var daemonUID = getuid()
    var readsSecrets = true

    init(_ files: [String: String]) throws(SystemError) {
        folder = try TemporaryFolder(prefix: "kleos-config")
        for (name, text) in files { try write(name, text) }
    }

    var path: String { folder.path }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    func write(_ name: String, _ text: String, mode: mode_t = 0o644) throws(SystemError) {
        try write(name, bytes: Array(text.utf8), mode: mode)
    }

    func write(_ name: String, bytes: [UInt8], mode: mode_t = 0o644) throws(SystemError) {
        let path = path(name)
        if let slash = path.lastIndex(of: "/") { try Folder.make(String(path[..<slash])) }
        try SmallFile.replace(path, with: bytes, mode: mode)
        guard chmod(path, mode) == 0 else { throw SystemError("change mode of \(path)") }
    }

    func mask(_ name: String) throws(SystemError) {
        let path = path(name)
        if let slash = path.lastIndex(of: "/") { try Folder.make(String(path[..<slash])) }
        guard symlink("/dev/null", path) == 0 else { throw SystemError("link \(path)") }
    }

    /// Loads from the folder itself, or from `folders` below it as `kind` of daemon.
    func load(
        kind: DaemonKind = .privateFolder, folders: [String]? = nil, gameFolders: [String] = []
    ) throws(ConfigurationErrors) -> Configuration {
        let sources = ConfigurationSources(
            kind: kind, folders: folders.map { $0.map(path) } ?? [path], gameFolders: gameFolders.map(path))
        return try ConfigurationLoader(
            sources: sources, accounts: accounts, daemonUID: daemonUID, credentialsDirectory: credentialsDirectory,
            readsSecrets: readsSecrets
        ).load()
    }

    /// The problems of a load, one a line, the folder's own path left out; empty where the load succeeds.
    func problems(kind: DaemonKind = .privateFolder) -> String {
        do throws(ConfigurationErrors) {
            _ = try load(kind: kind)
            return ""
        } catch {
            return error.description.replacing("\(path)/", with: "")
        }
    }
}

/// The files that come with kleos.
enum ShippedFiles {
    /// The package's folder.
    static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()
}
