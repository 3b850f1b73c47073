/// What the command line of `kleos-minesweeper` says.
struct MinesweeperOptions: Sendable, Equatable {
    /// A command line that cannot be followed.
    struct UsageError: Error, Equatable {
        let message: String
    }

    /// When the automatic play ends.
    enum Goal: Sendable, Equatable {
        case games(Int)
        /// So many submissions that were handed over.
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
