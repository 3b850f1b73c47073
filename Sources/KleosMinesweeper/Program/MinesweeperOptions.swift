/// What the command line of `kleos-minesweeper` says.
struct MinesweeperOptions: Sendable, Equatable {
    /// A command line that cannot be followed.
    struct UsageError: Error, Equatable {
        let message: String
    }

    /// When the automatic play ends.
    enum Goal: Sendable, Equatable {
        case games(Int)
        /// So many submissions that the daemon has acknowledged.
        case events(Int)
    }

    var goal: Goal?
    /// Nil for all levels in turn.
    var level: Level?
    var player: String?
    var seed: UInt64?
    var socketPath: String?
    var waitSeconds = 10
    var isQuiet = false
    var printsJSON = false
    var showsBoard = false
    var wantsHelp = false
    var wantsVersion = false

    static let help = """
        kleos-minesweeper - Mission: Minesweeper, the sample game of kleos

        Usage: kleos-minesweeper [OPTIONS]                play in the terminal
               kleos-minesweeper --auto GAMES [OPTIONS]   let the computer play

          --auto GAMES    let the computer play so many games; it reasons where it can and
                          guesses where it must
          --events N      let it play until the daemon has acknowledged N submissions
          --level LEVEL   beginner, intermediate, advanced; for the computer also mix, the default
          --player NAME   the player; by default the game's own, then $USER
          --seed NUMBER   play the same fields again
          --socket PATH   the daemon's socket, where it is not at one of the usual places
          --wait SECONDS  how long to wait for the daemon (10)
          --show          draw the last field
          --json          print one JSON object for each acknowledged submission, nothing else
          --quiet         print the summary only
          --help          print this text
          --version       print the version

        Keys: arrows or h j k l move, space or enter opens (and on a number with all its flags, all
        around it), f flags, c opens around a number, r begins anew, 1 2 3 choose the level, a shows
        the achievements, q quits. NO_COLOR is honoured. The game never waits for kleos: what it
        earned shows as being saved, saved, and confirmed by the service.

        Times of won games go to the leaderboards, achievements where a game earned them. The game
        first asks kleos what the player has already, so that nothing is awarded twice.
        Exit codes: 0 everything acknowledged, 64 wrong options or no terminal to play in, 65 a
        submission was refused, 69 no daemon (--auto), 128 and the signal's number at a signal.

        """

    /// Reads the arguments that follow the program's name.
    init(arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--auto": goal = .games(try Self.number(argument, &rest, in: 1...10_000_000))
            case "--events": goal = .events(try Self.number(argument, &rest, in: 1...100_000_000))
            case "--level": level = try Self.level(try Self.value(argument, &rest))
            case "--player": player = try Self.value(argument, &rest)
            case "--seed": seed = UInt64(try Self.number(argument, &rest, in: 0...Int.max))
            case "--socket": socketPath = try Self.value(argument, &rest)
            case "--wait": waitSeconds = try Self.number(argument, &rest, in: 0...86_400)
            case "--show": showsBoard = true
            case "--json": printsJSON = true
            case "--quiet": isQuiet = true
            case "--help", "-h": wantsHelp = true
            case "--version": wantsVersion = true
            default: throw UsageError(message: "unknown option \(argument); kleos-minesweeper --help lists them")
            }
        }
    }

    private static func value(_ name: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else { throw UsageError(message: "\(name) needs a value") }
        return value
    }

    private static func number(
        _ name: String, _ rest: inout ArraySlice<String>, in range: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        let text = try value(name, &rest)
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(message: "\(name) needs a whole number from \(range.lowerBound), not \(text)")
        }
        return number
    }

    private static func level(_ text: String) throws(UsageError) -> Level? {
        if text == "mix" { return nil }
        guard let level = Level(rawValue: text) else {
            let all = Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "there is no level \(text); there are \(all), and mix")
        }
        return level
    }
}
