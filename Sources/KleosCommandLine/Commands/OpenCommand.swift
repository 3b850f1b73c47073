import KleosJSON
import KleosModel
import KleosNotify
import KleosSupport
import KleosWire

/// `kleos open`.
enum OpenCommand {
    static let specification = CommandSpecification(
        ["open"], "Bring the game of a notice forward, or start it",
        details: [
            "A game that runs and listens is told, and shows what the notice was about; else what the game's file says at "
                + "Start= is run, with the event in KLEOS_EVENT and what it is about in KLEOS_PLAYER, KLEOS_LEADERBOARD or "
                + "KLEOS_ACHIEVEMENT. A click on a notice of kleos agent does the same."
        ],
        arguments: [ArgumentSpecification("NUMBER", "The notice's number, as kleos notices lists it.")],
        examples: [CommandExample("kleos open 12", "Shows the game that notice 12 is about.")],
        run: { invocation, session throws(CommandFailure) in
            guard let number = invocation.argument(0).flatMap({ Int64($0) }) else {
                throw .usage("NUMBER is a whole number", hint: "kleos notices lists them")
            }
            let result = try session.request(.openNotice, OpenNoticeParameters(number: number).parameters)
            guard let answer = OpenNoticeAnswer(json: result) else {
                throw CommandFailure(.contract, "the daemon's answer cannot be read: \(result.serialized)")
            }
            do throws(GameStarter.Failure) {
                let words = try GameStarter.follow(answer)
                if session.isJSON { session.json(result) } else { session.line(Printable.text(words)) }
            } catch {
                throw CommandFailure(.failure, error.description, hint: "set Start= in the game's file")
            }
            return .success
        })
}
