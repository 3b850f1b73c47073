/// What follows from single numbers and from one number's cells inside another's. Pure.
struct Deduction {
    private(set) var safe: Set<Int> = []
    private(set) var mines: Set<Int> = []

    init(_ field: VisibleField) {
        var constraints = field.constraints
        var isNews = true
        while isNews, safe.isEmpty {
            isNews = takeSinglePoints(&constraints)
            if !isNews { isNews = Self.addDifferences(&constraints) }
        }
    }

    /// Finds constraints that leave no choice; returns whether any did.
    private mutating func takeSinglePoints(_ constraints: inout [Constraint]) -> Bool {
        let before = safe.count + mines.count
        for constraint in constraints {
            if constraint.mines == 0 { safe.formUnion(constraint.cells) }
            if constraint.mines == constraint.cells.count { mines.formUnion(constraint.cells) }
        }
        guard safe.count + mines.count > before else { return false }
        constraints = Array(
            Set(
                constraints.compactMap { constraint in
                    let known = constraint.cells.intersection(mines)
                    let rest = constraint.cells.subtracting(known).subtracting(safe)
                    return rest.isEmpty ? nil : Constraint(cells: rest, mines: constraint.mines - known.count)
                }))
        return true
    }

    /// Where one constraint's cells are all in another's, the rest is a constraint too.
    private static func addDifferences(_ constraints: inout [Constraint]) -> Bool {
        var known = Set(constraints)
        let before = known.count
        for small in constraints {
            for large in constraints
            where small.cells.count < large.cells.count && small.cells.isSubset(of: large.cells) {
                known.insert(
                    Constraint(cells: large.cells.subtracting(small.cells), mines: large.mines - small.mines))
            }
        }
        // A field makes few of them; the limit only keeps a strange one from growing without bound.
        guard known.count > before, known.count < 4_000 else { return false }
        constraints = Array(known)
        return true
    }
}
