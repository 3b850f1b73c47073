import KleosModel
import KleosSupport
import KleosWire

/// `kleos register`.
enum RegisterCommand {
    static let specification = CommandSpecification(
        ["register"], "Give your own daemon a game's catalog",
        details: [
            "The file is one as in games.d, with Id=, Title= and Player= of the game, its leaderboards and its "
                + "achievements. Events go where RegisteredEndpoints= in kleosd.conf says. A file in games.d that "
                + "describes the game stays in force.",
            "Only for a user's own and private daemons, and their user. A game may do the same itself (register).",
        ],
        arguments: [ArgumentSpecification("FILE", "The catalog.")],
        examples: [CommandExample("kleos register minesweeper.conf", "Makes the game known.")],
        run: { invocation, session throws(CommandFailure) in
            let path = invocation.argument(0) ?? ""
            let catalog: String
            do throws(SystemError) {
                catalog = try SmallFile.readText(at: path, limitBytes: Limits.requestBytes)
            } catch {
                throw CommandFailure(.data, error.description)
            }
            let result = try session.request(.register, RegisterParameters(catalog: catalog).parameters)
            if session.isJSON {
                session.json(result)
                return .success
            }
            if let answer = RegisterAnswer(json: result) { session.line(Printable.text(words(answer))) }
            return .success
        })

    private static func words(_ answer: RegisterAnswer) -> String {
        let catalog =
            "\(Counted.text(answer.leaderboards, "leaderboard")), \(Counted.text(answer.achievements, "achievement"))"
        return switch answer.state {
        case .registered: "\(answer.game) is registered: \(catalog)"
        case .unchanged: "\(answer.game) was registered so before: \(catalog)"
        case .configured: "\(answer.game) is described by a file in games.d, which stays in force"
        }
    }
}
