/// The arguments of `kleos-simulate`.
struct SimulateOptions: Sendable {
    /// Wrong arguments, as a sentence.
    struct Mistake: Error {
        var message: String
        init(_ message: String) { self.message = message }
    }

    var firstSeed: UInt64 = 1
    var count: UInt64 = 100
    /// In place of a count.
    var hours: Double?
    var jobs = 2
    /// Whether one seed is run and told in full.
    var isTraced = false
    var isHelpWanted = false

    static let help = """
        Simulates weeks in the life of an outbox: crashes, power cuts, full and failing disks, services in every mood,
        clocks that jump, operators and reloads; and checks the promise after every step and at the end.

          kleos-simulate [--seeds N] [--first SEED] [--jobs N]   N weeks, beginning with SEED (100, 1, 2)
          kleos-simulate --hours N [--first SEED] [--jobs N]     weeks for so many hours; fractions are allowed
          kleos-simulate --seed SEED                             one week, told in full

        The same seed of the same commit gives the same week. Exit codes: 0 nothing was violated, 1 something was,
        64 wrong arguments.

        """

    /// Reads arguments. Throws `Mistake`.
    init(_ arguments: [String]) throws(Mistake) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if name == "--help" {
                isHelpWanted = true
                continue
            }
            guard let value = rest.popFirst() else { throw Mistake("\(name) needs a value; see --help") }
            switch name {
            case "--seeds": count = try Self.number(name, value)
            case "--first": firstSeed = try Self.number(name, value)
            case "--jobs": jobs = Int(clamping: min(64, max(1, try Self.number(name, value))))
            case "--seed":
                firstSeed = try Self.number(name, value)
                isTraced = true
            case "--hours":
                guard let number = Double(value), number > 0, number < 10_000 else {
                    throw Mistake("--hours takes a number above 0, not \(value)")
                }
                hours = number
            default: throw Mistake("there is no option \(name); see --help")
            }
        }
    }

    private static func number(_ name: String, _ text: String) throws(Mistake) -> UInt64 {
        guard let number = UInt64(text) else { throw Mistake("\(name) takes a whole number, not \(text)") }
        return number
    }
}
