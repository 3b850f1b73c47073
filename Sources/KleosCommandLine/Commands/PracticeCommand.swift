import Glibc
import KleosJSON
import KleosPractice
import KleosSupport

/// `kleos practice`.
enum PracticeCommand {
    static let specification = CommandSpecification(
        ["practice"], "Run a command against a daemon and a service of its own, and check what came of it",
        details: [
            "Starts a private daemon and a practice endpoint on free ports, waits until both are ready, sets "
                + "KLEOS_SOCKET, and runs the command. When it ends, waits until nothing is on its way any more, prints "
                + "what happened as one JSON object a line, and removes everything. So a game tests its integration.",
            "The command's standard output goes to standard error, so that standard output has only what happened. What "
                + "the command leaves running is ended with it. KLEOS_PRACTICE_URL is the endpoint's page.",
            "Exits with the command's own code where that is not 0 (128 and the signal's number where a signal ended "
                + "it, 127 where it cannot be found), else with 1 if anything is dead or still on its way, or not as "
                + "--expect says, else with 0.",
        ],
        arguments: [ArgumentSpecification("-- COMMAND", "The command to run, with its arguments.", repeats: true)],
        options: [
            OptionSpecification(
                "game", "FILE",
                "The game's file; several may be given. By default the games of this user's configuration. All go to "
                    + "the practice endpoint, whatever their Endpoints= says.", repeats: true),
            OptionSpecification("expect", "FILE", "A JSON file of what must have happened (docs/practice.md)."),
            OptionSpecification(
                "faults", "FILE", "A JSON file of what the endpoint does wrong (docs/practice.md)."),
            OptionSpecification(
                "timeout", "SECONDS", "How long to wait for what is on its way when the command ended; by default 60."),
            OptionSpecification(
                "keep", "DIR",
                "Use this new or empty folder, and leave in it the queue, kleosd.log and the configuration."),
        ],
        examples: [
            CommandExample(
                "kleos practice --game mygame.conf --expect expect.json -- ./mygame --self-test",
                "Plays, and fails unless the service got what expect.json says."),
            CommandExample(
                "kleos practice --game mygame.conf --faults faults.json -- ./mygame --self-test",
                "The same with a service that fails as faults.json says."),
        ],
        run: { invocation, session throws(CommandFailure) in
            let plan = try PracticePlan(invocation, session)
            // A reader of the output that went away must not keep this from cleaning up.
            signal(SIGPIPE, SIG_IGN)
            let signals = try PracticeSignals()
            let run = PracticeRun(plan, signals, session)
            defer { run.stop() }
            return try run.run()
        })
}

/// What the command line of `kleos practice` asks for; its files are read before anything starts.
struct PracticePlan {
    let command: [String]
    /// The games' files and their drop-ins, by name relative to `games.d`.
    let games: [String: [UInt8]]
    let faults: Faults
    let expectations: PracticeExpectations
    let timeoutMilliseconds: Int64
    let keptFolder: String?

    /// Throws a failure that names the file at fault.
    init(_ invocation: Invocation, _ session: Session) throws(CommandFailure) {
        command = invocation.arguments
        games = try PracticeGames.files(invocation, session)
        var faults = Faults()
        if let path = invocation.value("faults") {
            let value = try Self.json(path)
            do throws(FaultsError) {
                try faults.merge(value)
            } catch {
                throw CommandFailure(.data, "\(path): \(error)", hint: "docs/practice.md lists the faults")
            }
        }
        self.faults = faults
        if let path = invocation.value("expect") {
            expectations = try PracticeExpectations(try Self.json(path), path: path)
        } else {
            expectations = PracticeExpectations()
        }
        timeoutMilliseconds = (try invocation.number("timeout", in: 0...86_400) ?? 60) * 1_000
        keptFolder = invocation.value("keep")
    }

    private static func json(_ path: String) throws(CommandFailure) -> JSONValue {
        do {
            return try JSONParser.parse(SmallFile.read(at: path))
        } catch {
            throw CommandFailure(.data, "\(path) cannot be read as JSON: \(error)")
        }
    }
}
