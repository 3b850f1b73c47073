import KleosConfig
import KleosJSON

/// `kleos config show`.
enum ConfigShowCommand {
    static let specification = CommandSpecification(
        ["config", "show"], "Show each setting's effective value and where it came from",
        options: ConfigurationChoice.options,
        examples: [CommandExample("kleos config show --system", "What the system's daemon reads at its next start.")],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let loader = try ConfigurationChoice.loader(invocation, session)
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            configuration = try loader.load()
        } catch {
            throw ConfigurationChoice.failure(error)
        }
        if session.isJSON {
            for setting in configuration.settings { session.json(json(setting)) }
            return .success
        }
        var section = ""
        for setting in configuration.settings {
            let heading = "\(setting.file) [\(setting.section)]"
            if heading != section {
                if !section.isEmpty { session.line() }
                session.line(session.palette.apply(.heading, to: Printable.text(heading)))
                section = heading
            }
            let value = Printable.text("\(setting.key)=\(setting.value)")
            session.line(value + session.palette.apply(.quiet, to: Printable.text("  # \(setting.source)")))
        }
        return .success
    }

    private static func json(_ setting: EffectiveSetting) -> JSONValue {
        [
            "file": .string(setting.file), "section": .string(setting.section), "key": .string(setting.key),
            "value": .string(setting.value), "from": .string(setting.source.description),
        ]
    }
}
