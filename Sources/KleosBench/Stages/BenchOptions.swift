/// What a run measures, and for how long.
package struct BenchOptions: Sendable, Equatable {
    /// How the results are printed.
    package enum Form: Sendable, Equatable {
        case text
        case json
        case markdown
    }

    /// How often everything is measured again.
    package var rounds = 5
    /// The length of one measurement.
    package var seconds = 2.0
    /// Whether what only adds detail is left out.
    package var isQuick = false
    /// Events that wait while the backlog is measured; 0 for no backlog.
    package var backlog = 0
    /// Whether other programs are measured too.
    package var withPeers = false
    package var form = Form.text

    /// What `--backlog` without a number means.
    package static let defaultBacklog = 1_100_000

    /// Makes the options of a run without arguments.
    package init() {}

    /// Reads command-line arguments. Throws `BenchFailure` for what it does not know.
    package init(_ arguments: [String]) throws(BenchFailure) {
        var rest = arguments[...]
        func positive(_ name: String) throws(BenchFailure) -> Double {
            guard let text = rest.popFirst(), let value = Double(text), value > 0, value <= 100_000_000 else {
                throw BenchFailure("\(name) needs a positive number")
            }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--rounds": rounds = max(1, Int(try positive(argument)))
            case "--seconds": seconds = try positive(argument)
            case "--quick":
                isQuick = true
                rounds = 3
                seconds = 1
            case "--backlog":
                backlog = Self.defaultBacklog
                if let next = rest.first, Int(next) != nil { backlog = Int(try positive(argument)) }
            case "--peers": withPeers = true
            case "--json": form = .json
            case "--markdown": form = .markdown
            default: throw BenchFailure("unknown argument \(argument)")
            }
        }
    }
}
