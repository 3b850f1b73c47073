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
        var found: Set<Constraint> = []
        for index in covers.indices {
            guard let number = board.number(at: index), number > 0 else { continue }
            let near = board.neighbors(of: index).filter { covers[$0] != .uncovered }
            if !near.isEmpty { found.insert(Constraint(cells: Set(near), mines: number)) }
        }
        constraints = found.sorted { ($0.cells.min() ?? 0, $0.cells.count) < ($1.cells.min() ?? 0, $1.cells.count) }
    }
}
