import Glibc
import KleosConfig

/// Which configuration the config commands read.
enum ConfigurationChoice {
    static let options = [
        OptionSpecification("dir", "DIR", "Read this folder alone, as kleosd --private DIR would."),
        OptionSpecification("user", nil, "Read what a user's own daemon would; the default for everybody but root."),
        OptionSpecification("system", nil, "Read what the system's daemon would; the default for root."),
    ]

    /// A loader of what the options name. Throws a usage failure.
    static func loader(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ConfigurationLoader {
        let sources = try sources(invocation, session)
        return ConfigurationLoader(
            sources: sources, daemonUID: getuid(),
            credentialsDirectory: session.terminal.environment("CREDENTIALS_DIRECTORY"), readsSecrets: false)
    }

    /// The folders that the options name. Throws a usage failure.
    static func sources(
        _ invocation: Invocation, _ session: Session
    ) throws(CommandFailure) -> ConfigurationSources {
        if let folder = invocation.value("dir") ?? invocation.value("private") { return .only(folder) }
        let isSystem = invocation.has("system") || (!invocation.has("user") && getuid() == 0)
        if isSystem { return .system }
        guard let home = session.terminal.environment("HOME") else {
            throw .usage("HOME is not set", hint: "name the folder with --dir, or use --system")
        }
        return .user(
            configHome: session.terminal.environment("XDG_CONFIG_HOME") ?? "\(home)/.config",
            dataHome: session.terminal.environment("XDG_DATA_HOME") ?? "\(home)/.local/share")
    }

    /// The failure that a wrong configuration is.
    static func failure(_ errors: ConfigurationErrors) -> CommandFailure {
        let count = errors.problems.count
        return CommandFailure(
            .configuration,
            "the configuration has \(count == 1 ? "an error" : "\(count) errors"):\n\(errors.description)",
            hint: "correct it and run kleos config check again")
    }
}
