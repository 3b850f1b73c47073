import Glibc

/// How likely each covered cell holds a mine, from all arrangements that fit the numbers. Pure.
///
/// The frontier falls into parts that share no number; each part's arrangements are counted by their mines, and put
/// together with the mines that are left for the cells that no number touches.
struct RiskTable {
    /// Likelihood of a mine by cell, 0 … 1.
    private(set) var risks: [Int: Double] = [:]

    /// Arrangements looked at in one part before its cells are judged by the average alone.
    private static let maximumSteps = 200_000

    init(_ field: VisibleField) {
        let parts = Self.parts(of: field.constraints).map { Arrangements(of: $0, maximumSteps: Self.maximumSteps) }
        let counted = parts.compactMap { $0 }
        let frontier = Set(counted.flatMap(\.cells))
        let rest = field.covered.subtracting(frontier)
        combine(counted, rest: rest, mines: field.mineCount)
    }

    private static func parts(of constraints: [Constraint]) -> [[Constraint]] {
        var parts: [(cells: Set<Int>, constraints: [Constraint])] = []
        for constraint in constraints {
            var merged = (cells: constraint.cells, constraints: [constraint])
            parts.removeAll { part in
                guard !part.cells.isDisjoint(with: merged.cells) else { return false }
                merged.cells.formUnion(part.cells)
                merged.constraints += part.constraints
                return true
            }
            parts.append(merged)
        }
        return parts.map(\.constraints)
    }

    private mutating func combine(_ parts: [Arrangements], rest: Set<Int>, mines: Int) {
        // totals[i][k]: ways of all parts but i with k mines together.
        let all = parts.reduce([1.0]) { Self.product($0, $1.ways) }
        let weights = all.indices.map { Self.ways(choosing: mines - $0, of: rest.count) }
        let total = zip(all, weights).reduce(0) { $0 + $1.0 * $1.1 }
        guard total > 0 else { return }
        for (index, part) in parts.enumerated() {
            let others = parts.enumerated().reduce([1.0]) { product, other in
                other.offset == index ? product : Self.product(product, other.element.ways)
            }
            for cell in part.cells {
                let withMine = Self.product(others, part.waysWithMine(at: cell))
                let sum = zip(withMine.indices, withMine).reduce(0) { $0 + $1.1 * (weights.element(at: $1.0) ?? 0) }
                risks[cell] = sum / total
            }
        }
        guard !rest.isEmpty else { return }
        let expected = zip(all.indices, all).reduce(0) { sum, entry in
            sum + entry.1 * weights[entry.0] * Double(mines - entry.0)
        }
        let risk = expected / total / Double(rest.count)
        for cell in rest { risks[cell] = min(1, max(0, risk)) }
    }

    private static func product(_ left: [Double], _ right: [Double]) -> [Double] {
        var result = Array(repeating: 0.0, count: left.count + right.count - 1)
        for (index, value) in left.enumerated() where value != 0 {
            for (other, factor) in right.enumerated() { result[index + other] += value * factor }
        }
        return result
    }

    /// Binomial coefficient, scaled by the same factor for one `total`, so that large fields do not overflow.
    private static func ways(choosing count: Int, of total: Int) -> Double {
        guard count >= 0, count <= total else { return 0 }
        let logarithm = lgamma(Double(total + 1)) - lgamma(Double(count + 1)) - lgamma(Double(total - count + 1))
        return exp(logarithm - Double(total) * log(2.0) / 2)
    }
}

extension Array {
    fileprivate func element(at index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}

/// The arrangements of mines in one part of the frontier, counted by how many mines they have.
private struct Arrangements {
    let cells: [Int]
    /// Arrangements with k mines.
    private(set) var ways: [Double]
    private var withMine: [[Double]]

    /// Counts; nil where there are too many steps.
    init?(of constraints: [Constraint], maximumSteps: Int) {
        cells = Self.ordered(constraints)
        ways = Array(repeating: 0, count: cells.count + 1)
        withMine = Array(repeating: ways, count: cells.count)
        var search = Search(cells: cells, constraints: constraints, maximumSteps: maximumSteps)
        let isComplete = search.run()
        guard isComplete else { return nil }
        ways = search.ways
        withMine = search.withMine
    }

    func waysWithMine(at cell: Int) -> [Double] {
        cells.firstIndex(of: cell).map { withMine[$0] } ?? ways.map { _ in 0 }
    }

    /// Neighbours after each other, so that a wrong choice shows early.
    private static func ordered(_ constraints: [Constraint]) -> [Int] {
        var order: [Int] = []
        var seen: Set<Int> = []
        for constraint in constraints {
            for cell in constraint.cells.sorted() where seen.insert(cell).inserted { order.append(cell) }
        }
        return order
    }
}

/// Depth-first search over one part of the frontier.
private struct Search {
    private let touching: [[Int]]
    private var minesLeft: [Int]
    private var cellsLeft: [Int]
    private var isMine: [Bool]
    private var steps = 0
    private let maximumSteps: Int
    private(set) var ways: [Double]
    private(set) var withMine: [[Double]]

    init(cells: [Int], constraints: [Constraint], maximumSteps: Int) {
        touching = cells.map { cell in constraints.indices.filter { constraints[$0].cells.contains(cell) } }
        minesLeft = constraints.map(\.mines)
        cellsLeft = constraints.map(\.cells.count)
        isMine = Array(repeating: false, count: cells.count)
        ways = Array(repeating: 0, count: cells.count + 1)
        withMine = Array(repeating: ways, count: cells.count)
        self.maximumSteps = maximumSteps
    }

    mutating func run() -> Bool { descend(0, mines: 0) }

    private mutating func descend(_ position: Int, mines: Int) -> Bool {
        steps += 1
        guard steps <= maximumSteps else { return false }
        guard position < isMine.count else {
            ways[mines] += 1
            for index in isMine.indices where isMine[index] { withMine[index][mines] += 1 }
            return true
        }
        for choice in [false, true] {
            isMine[position] = choice
            let fits = place(position, choice ? 1 : 0)
            let isComplete = !fits || descend(position + 1, mines: mines + (choice ? 1 : 0))
            unplace(position, choice ? 1 : 0)
            guard isComplete else { return false }
        }
        isMine[position] = false
        return true
    }

    private mutating func place(_ position: Int, _ mines: Int) -> Bool {
        var fits = true
        for constraint in touching[position] {
            minesLeft[constraint] -= mines
            cellsLeft[constraint] -= 1
            if minesLeft[constraint] < 0 || minesLeft[constraint] > cellsLeft[constraint] { fits = false }
        }
        return fits
    }

    private mutating func unplace(_ position: Int, _ mines: Int) {
        for constraint in touching[position] {
            minesLeft[constraint] += mines
            cellsLeft[constraint] += 1
        }
    }
}
