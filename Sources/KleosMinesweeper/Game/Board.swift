/// A field of mines and what the player has done to it. Pure.
package struct Board: Sendable, Equatable {
    /// What a player sees of a cell.
    package enum Cover: Sendable, Equatable {
        case covered
        case flagged
        case uncovered
    }

    /// Columns.
    package let width: Int
    /// Rows.
    package let height: Int
    private let isMine: [Bool]
    private let numbers: [UInt8]
    /// One for each cell, row by row.
    package private(set) var covers: [Cover]
    /// Cells without a mine that are still covered.
    package private(set) var remainingSafe: Int
    /// The mine that was uncovered.
    package private(set) var exploded: Int?

    /// Makes a field with mines at the given cells, numbered row by row from 0.
    package init(width: Int, height: Int, mines: Set<Int>) {
        precondition(width > 0 && height > 0 && mines.allSatisfy { (0..<(width * height)).contains($0) })
        self.width = width
        self.height = height
        let isMine = (0..<(width * height)).map { mines.contains($0) }
        self.isMine = isMine
        numbers = isMine.indices.map { index in
            UInt8(Self.neighbors(of: index, width: width, height: height).filter { isMine[$0] }.count)
        }
        covers = Array(repeating: .covered, count: isMine.count)
        remainingSafe = isMine.count - mines.count
    }

    /// Lays the mines of `level` anywhere but at `safe`, the cell that is uncovered first.
    package init(_ level: Level, safe: Int, random: inout some RandomNumberGenerator) {
        var cells = Array(0..<(level.width * level.height))
        cells.remove(at: safe)
        cells.shuffle(using: &random)
        self.init(width: level.width, height: level.height, mines: Set(cells.prefix(level.mines)))
    }

    /// Whether every cell without a mine is uncovered.
    package var isWon: Bool { remainingSafe == 0 && exploded == nil }

    /// Whether the game is over.
    package var isOver: Bool { isWon || exploded != nil }

    /// Mines in the whole field.
    package var mineCount: Int { isMine.filter { $0 }.count }

    /// The number in an uncovered cell: mines around it. Nil for a cell that is covered.
    package func number(at index: Int) -> Int? {
        covers[index] == .uncovered ? Int(numbers[index]) : nil
    }

    /// Whether there is a mine, which only a game that is over shows.
    package func revealsMine(at index: Int) -> Bool {
        isOver && isMine[index]
    }

    /// Whether every flag stands on a mine and every mine has one.
    package var isFlaggedRight: Bool {
        covers.indices.allSatisfy { (covers[$0] == .flagged) == isMine[$0] }
    }

    /// The cells around a cell.
    package func neighbors(of index: Int) -> [Int] {
        Self.neighbors(of: index, width: width, height: height)
    }

    private static func neighbors(of index: Int, width: Int, height: Int) -> [Int] {
        let (row, column) = (index / width, index % width)
        var result: [Int] = []
        result.reserveCapacity(8)
        for nearRow in max(0, row - 1)...min(height - 1, row + 1) {
            for nearColumn in max(0, column - 1)...min(width - 1, column + 1)
            where nearRow != row || nearColumn != column {
                result.append(nearRow * width + nearColumn)
            }
        }
        return result
    }

    /// Sets or removes a flag on a covered cell.
    package mutating func toggleFlag(at index: Int) {
        guard !isOver else { return }
        switch covers[index] {
        case .covered: covers[index] = .flagged
        case .flagged: covers[index] = .covered
        case .uncovered: break
        }
    }

    /// Uncovers a cell, and around zeros all that they touch. Returns the cells that were opened.
    package mutating func uncover(_ index: Int) -> [Int] {
        guard !isOver, covers[index] == .covered else { return [] }
        if isMine[index] {
            covers[index] = .uncovered
            exploded = index
            return [index]
        }
        var opened: [Int] = []
        var open = [index]
        covers[index] = .uncovered
        while let cell = open.popLast() {
            opened.append(cell)
            guard numbers[cell] == 0 else { continue }
            for near in neighbors(of: cell) where covers[near] == .covered {
                covers[near] = .uncovered
                open.append(near)
            }
        }
        remainingSafe -= opened.count
        return opened
    }

    /// Uncovers all around a number that has as many flags around it. Returns the cells that were opened.
    package mutating func chord(_ index: Int) -> [Int] {
        guard let number = number(at: index), number > 0 else { return [] }
        let around = neighbors(of: index)
        guard around.filter({ covers[$0] == .flagged }).count == number else { return [] }
        var opened: [Int] = []
        for near in around where covers[near] == .covered { opened += uncover(near) }
        return opened
    }
}
