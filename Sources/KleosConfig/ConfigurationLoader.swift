import KleosModel
import KleosSupport

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
        let report = LoadReport()
        checkFolder(report)
        let files = ConfigurationFiles(sources: sources, report: report)
        let daemon = DaemonFile.read(files.daemonFile(), kind: sources.kind, accounts: accounts, report: report)
        let games = files.gameFiles().map {
            GameReader(kind: sources.kind, accounts: accounts, report: report).read($0.file, fileName: $0.name)
        }
        let secrets = SecretReader(
            daemonUID: daemonUID, credentialsDirectory: credentialsDirectory, isEnabled: readsSecrets)
        let endpoints = files.endpointFiles().map {
            EndpointReader(report: report, secrets: secrets).read($0.file, fileName: $0.name)
        }
        CombinationRules(games: games, endpoints: endpoints).check()
        checkDestinations(daemon, endpoints, report)
        guard report.problems.isEmpty else { throw ConfigurationErrors(problems: Self.sorted(report.problems)) }
        let registered = RegisteredGames.read(
            files, reader: { GameReader(kind: sources.kind, accounts: accounts, report: $0) }, endpoints: endpoints,
            configured: Set(games.map(\.game.id)), destinations: daemon.registeredEndpoints, report: report)
        return Configuration(
            daemon: daemon, games: games.map(\.game) + registered, endpoints: endpoints.map(\.endpoint),
            settings: report.settings, warnings: report.warnings)
    }

    /// Games' own catalogs have no other place to go to.
    private func checkDestinations(_ daemon: DaemonSettings, _ endpoints: [LoadedEndpoint], _ report: LoadReport) {
        let known = endpoints.map(\.endpoint.name)
        for name in daemon.registeredEndpoints where !known.contains(name) {
            report.problem(
                DaemonFile.definition.name, nil,
                "\(DaemonFile.registeredEndpoints.key)=: there is no endpoint \"\(name.shortened)\""
                    + Hint.nearest(to: name, in: known))
        }
    }

    /// A private daemon's folder is named on purpose, so that its absence is a mistake.
    private func checkFolder(_ report: LoadReport) {
        guard sources.kind == .privateFolder else { return }
        for folder in sources.folders {
            do throws(SystemError) {
                _ = try Folder.names(in: folder)
            } catch {
                report.problem(folder, nil, error.description)
            }
        }
    }

    private static func sorted(_ problems: [ConfigurationProblem]) -> [ConfigurationProblem] {
        let ranks = Dictionary(problems.enumerated().map { ($1.file, $0) }) { first, _ in first }
        return problems.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            if a.file != b.file { return ranks[a.file, default: 0] < ranks[b.file, default: 0] }
            return (a.line ?? 0, left.offset) < (b.line ?? 0, right.offset)
        }.map(\.element)
    }
}
