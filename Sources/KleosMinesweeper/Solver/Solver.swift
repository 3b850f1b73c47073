/// Plays as well as anybody can from what is to be seen: what follows from the numbers, else the least risk. Pure.
package enum Solver {
    /// What to do next.
    package enum Advice: Sendable, Equatable {
        /// Cells that hold no mine.
        case safe([Int])
        /// Nothing is certain; this cell is the least risky. The risk is 0 … 1.
        case guess(Int, risk: Double)
    }

    /// Looks at a board that is not over.
    package static func advice(for board: Board) -> Advice {
        let field = VisibleField(board)
        let deduction = Deduction(field)
        if !deduction.safe.isEmpty { return .safe(deduction.safe.sorted()) }
        let risks = RiskTable(field).risks
        let certain = risks.filter { $0.value <= 1e-9 }.keys.sorted()
        if !certain.isEmpty { return .safe(certain) }
        let best = risks.min { ($0.value, $0.key) < ($1.value, $1.key) }
        // Without any arrangement that fits there is no field like this; any covered cell will do.
        return .guess(best?.key ?? field.covered.min() ?? 0, risk: best?.value ?? 1)
    }

    /// Cells that certainly hold a mine.
    package static func certainMines(in board: Board) -> [Int] {
        Deduction(VisibleField(board)).mines.sorted()
    }
}

extension Solver {
    /// How likely a covered cell holds a mine, as far as the field tells: 0 where it certainly has none, … 1.
    package static func risk(of cell: Int, in board: Board) -> Double {
        let field = VisibleField(board)
        if Deduction(field).safe.contains(cell) { return 0 }
        // Without any arrangement that fits there is no field like this.
        let risk = RiskTable(field).risks[cell] ?? 1
        return risk <= 1e-9 ? 0 : risk
    }
}
