import KleosSupport

/// Whose daemon a configuration is for.
package enum DaemonKind: String, Sendable, CaseIterable {
    /// One for the machine, run as its own user.
    case system
    /// One of a user's own.
    case user
    /// One in a folder, for a bundled copy, tests and the demo.
    case privateFolder = "private"
}

/// The folders that a configuration is read from.
package struct ConfigurationSources: Sendable, Equatable {
    package var kind: DaemonKind
    /// Folders with `kleosd.conf`, `games.d` and `endpoints.d`; a file of a later one replaces its namesake.
    package var folders: [String]
    /// Folders with games' files alone, which files of `folders` replace.
    package var gameFolders: [String]
    /// The folder that the daemon keeps games' own catalogs in; nil where it takes none.
    package var registeredFolder: String?

    /// Makes sources from folders in rising precedence.
    package init(kind: DaemonKind, folders: [String], gameFolders: [String] = []) {
        self.kind = kind
        self.folders = folders
        self.gameFolders = gameFolders
    }

    /// The system service's: the files that were installed with this program, then `/etc/kleos`.
    package static let system = ConfigurationSources(
        kind: .system, folders: [shippedFolder(program: Folder.ofThisProgram) { Folder.exists($0) }, "/etc/kleos"])

    /// Where the files are that were installed with the program whose folder is `program`.
    ///
    /// A program in `PREFIX/bin` takes `PREFIX/share/kleos`; in `~/.local` that folder holds the user's own games and
    /// sockets, so that there they are in `shipped` inside it. A program that is not installed takes
    /// `/usr/share/kleos`.
    package static func shippedFolder(program: String?, exists: (String) -> Bool) -> String {
        let standard = "/usr/share/kleos"
        guard let program, program.hasSuffix("/bin") else { return standard }
        let folder = "\(program.dropLast("bin".count))share/kleos"
        return ["\(folder)/shipped", folder].first { exists("\($0)/endpoints.d") } ?? standard
    }

    /// A user's own daemon's: the system's, then `kleos` in `configHome`; games also from `kleos/games.d` in
    /// `dataHome`.
    package static func user(configHome: String, dataHome: String) -> ConfigurationSources {
        ConfigurationSources(
            kind: .user, folders: system.folders + ["\(configHome)/kleos"],
            gameFolders: ["\(dataHome)/kleos/games.d"])
    }

    /// A private daemon's: the folder `config` in `folder` where there is one, else `folder` itself, and nothing else.
    /// Looks at the file system once.
    package static func only(_ folder: String) -> ConfigurationSources {
        let inner = "\(folder)/config"
        return ConfigurationSources(kind: .privateFolder, folders: [Folder.exists(inner) ? inner : folder])
    }
}
