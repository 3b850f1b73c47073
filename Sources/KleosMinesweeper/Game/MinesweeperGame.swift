package import KleosSupport

/// One game from its first click to its end, with all that achievements ask about. Pure: time comes with each move.
package struct MinesweeperGame: Sendable {
    /// What happened in a game.
    package struct Facts: Sendable, Equatable {
        package var level: Level
        package var isWon = false
        /// From the first click to the end, at least 1.
        package var milliseconds: Int64 = 1
        /// Uncovering moves, chords included.
        package var clicks = 0
        /// Moves that could have gone wrong.
        package var guesses = 0
        /// The greatest risk taken, 0 … 1.
        package var greatestRisk = 0.0
        package var usedFlags = false
        /// Whether at the end every mine had a flag, and nothing else.
        package var isFlaggedRight = false
        /// Cells opened by the first click.
        package var firstOpening = 0
        /// Most cells opened by one move.
        package var largestOpening = 0
        /// The greatest number uncovered.
        package var greatestNumber = 0
        /// The greatest number uncovered by the winning move.
        package var winningNumber: Int?
        package var wonByChord = false
        /// Cells without a mine that were still covered at the end.
        package var remainingSafe = 0

        /// Facts of a game that has not begun.
        package init(level: Level) {
            self.level = level
        }
    }

    /// A move.
    package enum Move: Sendable, Equatable {
        /// Uncovers a cell; `risk` is the likelihood of a mine there, as far as the field tells, 0 … 1.
        case uncover(Int, risk: Double)
        /// Sets or removes a flag.
        case flag(Int)
        /// Uncovers all around a number with enough flags.
        case chord(Int)
    }

    package let level: Level
    /// The field; nil before the first click.
    package private(set) var board: Board?
    package private(set) var facts: Facts
    private var random: SeededGenerator
    private var startedNanoseconds: Int64?

    /// Begins a game; `random` lays the mines at the first click.
    package init(_ level: Level, random: SeededGenerator) {
        self.level = level
        self.random = random
        facts = Facts(level: level)
    }

    /// Begins a game on a field that is laid already.
    package init(_ level: Level, board: Board) {
        self.init(level, random: SeededGenerator(seed: 0))
        self.board = board
    }

    /// Whether it is over.
    package var isOver: Bool { board?.isOver ?? false }

    /// Makes a move at a moment of a clock that never goes back.
    package mutating func play(_ move: Move, atNanoseconds now: Int64) {
        guard !isOver else { return }
        switch move {
        case .flag(let index):
            board?.toggleFlag(at: index)
            if board?.covers[index] == .flagged { facts.usedFlags = true }
        case .uncover(let index, let risk):
            var field = board ?? Board(level, safe: index, random: &random)
            let opened = field.uncover(index)
            board = field
            if startedNanoseconds != nil, risk > 0, !opened.isEmpty {
                facts.guesses += 1
                facts.greatestRisk = max(facts.greatestRisk, risk)
            }
            note(opened, isChord: false, atNanoseconds: now)
        case .chord(let index):
            let opened = board?.chord(index) ?? []
            note(opened, isChord: true, atNanoseconds: now)
        }
    }

    private mutating func note(_ opened: [Int], isChord: Bool, atNanoseconds now: Int64) {
        guard !opened.isEmpty, let board else { return }
        let started = startedNanoseconds ?? now
        if startedNanoseconds == nil { facts.firstOpening = opened.count }
        startedNanoseconds = started
        facts.clicks += 1
        facts.largestOpening = max(facts.largestOpening, opened.count)
        let safe = opened.filter { $0 != board.exploded }
        let number = safe.compactMap { board.number(at: $0) }.max() ?? 0
        facts.greatestNumber = max(facts.greatestNumber, number)
        guard board.isOver else { return }
        facts.isWon = board.isWon
        facts.milliseconds = max(1, (now - started) / 1_000_000)
        facts.remainingSafe = board.remainingSafe
        facts.isFlaggedRight = board.isFlaggedRight
        if board.isWon {
            facts.winningNumber = number
            facts.wonByChord = isChord
        }
    }
}
