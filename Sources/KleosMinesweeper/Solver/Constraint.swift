/// So many mines among these covered cells.
struct Constraint: Hashable {
    var cells: Set<Int>
    var mines: Int
}

/// What a player can see of a board, as the solver needs it.
struct VisibleField {
    /// Covered cells, flags or not: the solver trusts numbers only.
    let covered: Set<Int>
    let mineCount: Int
    /// One for each number that touches a covered cell.
    let constraints: [Constraint]

    init(_ board: Board) {
        let covers = board.covers
        covered = Set(covers.indices.filter { covers[$0] != .uncovered })
        mineCount = board.mineCount
        var known: Set<Constraint> = []
        var found: [Constraint] = []
        for index in covers.indices {
            guard let number = board.number(at: index), number > 0 else { continue }
            let near = board.neighbors(of: index).filter { covers[$0] != .uncovered }
            let constraint = Constraint(cells: Set(near), mines: number)
            if !near.isEmpty, known.insert(constraint).inserted { found.append(constraint) }
        }
        // The same board gives the same order in every process, so that a seed gives the same game.
        constraints = found.enumerated().sorted { left, right in
            (left.element.cells.min() ?? 0, left.element.cells.count, left.offset)
                < (right.element.cells.min() ?? 0, right.element.cells.count, right.offset)
        }.map(\.element)
    }
}
