import KleosModel
import KleosSupport

/// Finds the rows of an outbox that may be damaged.
///
/// Trees are followed from the schema where that can be read. What their damaged pages no longer lead to is found by
/// looking at all other pages: rows are told by their shape. Pages that SQLite has given up hold old versions of rows,
/// so they are left out where the list of them can be read, and what a tree leads to always wins.
struct SalvageScan {
    /// The tables that are brought over.
    enum Table: String, CaseIterable {
        case events, deliveries, endpoints, standing, notices, renderings, attempts
    }

    /// Where a row is.
    struct Place {
        let page: UInt32
        let cell: UInt16
    }

    let file: PageFile
    /// Places by row id; attempts, which have none, by delivery and number.
    private(set) var rows: [Table: [Int64: Place]] = [:]
    /// Places of attempts by delivery.
    private(set) var attempts: [Int64: [Place]] = [:]
    private(set) var unreadablePages = 0
    private(set) var unreadableRows = 0
    private var isVisited: [Bool]

    /// Reads all of `file`; `progress` is told pages done and pages in all.
    init(_ file: PageFile, progress: (Int, Int) -> Void) {
        self.file = file
        isVisited = [Bool](repeating: false, count: Int(file.count) + 1)
        let roots = schema()
        for table in Table.allCases { if let root = roots[table] { walk(root, table) } }
        if unreadablePages > 0 || roots.count < Table.allCases.count { carveAll(progress) }
    }

    private mutating func carveAll(_ progress: (Int, Int) -> Void) {
        passOverFreePages()
        for number in 0..<isVisited.count where !isVisited[number] {
            carve(UInt32(number))
            if number % 256 == 0 { progress(number, isVisited.count) }
        }
    }

    /// Reads where the tables begin; empty where the first page cannot be read.
    private mutating func schema() -> [Table: UInt32] {
        var roots: [Table: UInt32] = [:]
        for place in leaves(from: 1, kind: .tableLeaf) {
            guard let row = record(place)?.values, row.count == 5, row[0].text == "table",
                let table = row[1].text.flatMap(Table.init), let root = row[3].integer
            else { continue }
            roots[table] = UInt32(exactly: root)
        }
        return roots
    }

    private mutating func walk(_ root: UInt32, _ table: Table) {
        // attempts is a table without row ids, whose rows are in interior pages too.
        for place in leaves(from: root, kind: table == .attempts ? .indexLeaf : .tableLeaf) {
            guard let row = record(place), let found = SalvageRow.table(of: row.values), found == table else {
                unreadableRows += 1
                continue
            }
            add(place, row, to: table)
        }
    }

    /// The places of all rows of a tree, as far as it can be followed.
    private mutating func leaves(from root: UInt32, kind: TreePage.Kind) -> [Place] {
        var places: [Place] = []
        var pages = [root]
        while let number = pages.popLast() {
            guard number >= 1, number < isVisited.count, !isVisited[Int(number)],
                let page = file.page(number).flatMap({ TreePage($0, number: number) }),
                page.kind == kind || page.kind.isInterior
            else {
                unreadablePages += 1
                continue
            }
            isVisited[Int(number)] = true
            if page.kind != .tableInterior {
                places += page.cells.indices.map { Place(page: number, cell: UInt16($0)) }
            }
            pages += page.children
        }
        return places
    }

    private mutating func passOverFreePages() {
        guard var trunk = file.page(1)?.number(32) else { return }
        while trunk != 0, Int(trunk) < isVisited.count, !isVisited[Int(trunk)], let page = file.page(trunk) {
            isVisited[Int(trunk)] = true
            let count = min(Int(page.number(4)), page.count / 4 - 2)
            for index in 0..<count {
                let leaf = Int(page.number(8 + 4 * index))
                if leaf < isVisited.count { isVisited[leaf] = true }
            }
            trunk = page.number(0)
        }
    }

    private mutating func carve(_ number: UInt32) {
        guard let page = file.page(number).flatMap({ TreePage($0, number: number) }), page.kind != .tableInterior
        else { return }
        for index in page.cells.indices {
            guard let row = page.record(index, in: file), let table = SalvageRow.table(of: row.values),
                (table == .attempts) == (page.kind != .tableLeaf)
            else { continue }
            if table != .attempts, rows[table]?[row.rowID] != nil { continue }
            add(Place(page: number, cell: UInt16(index)), row, to: table)
        }
    }

    private mutating func add(_ place: Place, _ row: (rowID: Int64, values: [RecordValue]), to table: Table) {
        if table == .attempts {
            if let delivery = row.values[0].integer { attempts[delivery, default: []].append(place) }
        } else {
            rows[table, default: [:]][row.rowID] = place
        }
    }

    /// Reads the row at `place`; nil where it is damaged.
    func record(_ place: Place) -> (rowID: Int64, values: [RecordValue])? {
        file.page(place.page).flatMap { TreePage($0, number: place.page) }?.record(Int(place.cell), in: file)
    }
}

/// The shapes of rows.
enum SalvageRow {
    /// The table that a row with these values can only be of; nil for none.
    static func table(of values: [RecordValue]) -> SalvageScan.Table? {
        func has(_ index: Int, _ words: Set<String>) -> Bool { values[index].text.map(words.contains) ?? false }
        func isKey(_ index: Int) -> Bool { values[index].blob?.count == 16 }
        switch values.count {
        case 21... where values[0] == .null && isKey(1) && has(5, kinds) && has(7, measures): return .events
        case 27... where values[0] == .null && has(5, states) && values[1].integer != nil: return .deliveries
        case 16... where values[0] == .null && isKey(1) && has(5, kinds): return .notices
        case 16... where values[0] == .null && values[1].integer != nil && has(5, kinds): return .standing
        case 8 where values[0].integer != nil && values[1].integer != nil && has(4, outcomes): return .attempts
        case 4 where values[0] == .null && values[1].text != nil && values[3].text == nil: return .endpoints
        case 2 where values[0] == .null && values[1].blob != nil: return .renderings
        default: return nil
        }
    }

    private static let kinds = Set(SubjectKind.allCases.map(\.rawValue))
    private static let measures: Set<String> = ["value", "progress", "steps", "increment"]
    private static let states = Set(DeliveryState.allCases.map(\.rawValue))
    private static let outcomes = Set(Outcome.allCases.map(\.rawValue))
}
