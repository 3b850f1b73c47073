import KleosConfig
import KleosJSON
import KleosModel

/// `kleos config check`.
enum ConfigCheckCommand {
    static let specification = CommandSpecification(
        ["config", "check"], "Check the configuration without a daemon",
        details: [
            "Prints every error with its file and line, and exits with 78 where there is one. Secrets are not read."
        ],
        options: ConfigurationChoice.options,
        examples: [CommandExample("kleos config check --dir ./config", "Checks the files of a folder.")],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let loader = try ConfigurationChoice.loader(invocation, session)
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            configuration = try loader.load()
        } catch {
            guard session.isJSON else { throw ConfigurationChoice.failure(error) }
            for problem in error.problems { session.json(json(problem, level: "error")) }
            return .configuration
        }
        for warning in configuration.warnings {
            if session.isJSON {
                session.json(json(warning, level: "warning"))
            } else {
                session.warn("warning: \(warning.description)")
            }
        }
        if !session.isJSON {
            let games = Counted.text(configuration.games.count, "game")
            let endpoints = Counted.text(configuration.endpoints.count, "endpoint")
            session.line("the configuration is good: \(games), \(endpoints)")
        }
        return .success
    }

    private static func json(_ problem: ConfigurationProblem, level: String) -> JSONValue {
        var object = JSONObject()
        object["level"] = .string(level)
        object["file"] = .string(problem.file)
        object["line"] = problem.line.map { .integer($0) }
        object["message"] = .string(problem.message)
        return .object(object)
    }
}
