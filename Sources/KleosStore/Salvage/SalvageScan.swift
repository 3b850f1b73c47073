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
        case events, origins, queue, done, endpoints, streams, notices, flights, attempts
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
            guard let row = record(place)?.values, row.count == 5, row[0] == "table",
                let table = String(row[1]).flatMap(Table.init), let root = Int64(row[3])
            else { continue }
            roots[table] = UInt32(exactly: root)
        }
        return roots
    }

    private mutating func walk(_ root: UInt32, _ table: Table) {
        // attempts is a table without row ids, whose rows are in interior pages too.
        for place in leaves(from: root, kind: table == .attempts ? .indexLeaf : .tableLeaf) {
            guard let row = record(place), let found = SalvageRow.table(of: row.values, number: row.rowID),
                found == table
            else {
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
            guard let row = page.record(index, in: file),
                let table = SalvageRow.table(of: row.values, number: row.rowID),
                (table == .attempts) == (page.kind != .tableLeaf)
            else { continue }
            if table != .attempts, rows[table]?[row.rowID] != nil { continue }
            add(Place(page: number, cell: UInt16(index)), row, to: table)
        }
    }

    private mutating func add(_ place: Place, _ row: (rowID: Int64, values: [SQLValue]), to table: Table) {
        if table == .attempts {
            if let delivery = Int64(row.values[0]) { attempts[delivery, default: []].append(place) }
        } else {
            rows[table, default: [:]][row.rowID] = place
        }
    }

    /// Reads the row at `place`; nil where it is damaged.
    func record(_ place: Place) -> (rowID: Int64, values: [SQLValue])? {
        file.page(place.page).flatMap { TreePage($0, number: place.page) }?.record(Int(place.cell), in: file)
    }
}

/// The shapes of rows.
enum SalvageRow {
    /// The table that a row with these values can only be of; nil for none.
    static func table(of values: [SQLValue], number: Int64) -> SalvageScan.Table? {
        SalvageScan.Table.allCases.first { fits($0, values, number) }
    }

    /// Whether a table's declaration reads the values. Tables have different numbers of columns, or differ in what those
    /// hold; an empty one has nothing that could be another's.
    private static func fits(_ table: SalvageScan.Table, _ values: [SQLValue], _ number: Int64) -> Bool {
        switch table {
        case .events: EventRow.table.fits(values, number)
        case .origins: OriginRow.table.fits(values, number)
        case .queue: QueueRow.table.fits(values, number)
        case .done: DoneRow.table.fits(values, number)
        case .endpoints: EndpointRow.table.fits(values, number)
        case .streams: StreamRow.table.fits(values, number)
        case .notices: NoticeRecord.table.fits(values, number)
        case .flights: FlightRow.table.fits(values, number)
        case .attempts: AttemptRow.table.fits(values, number)
        }
    }
}

extension Table {
    /// Whether `values` have this table's shape: as many as it has columns, each of which it can hold.
    fileprivate func fits(_ values: [SQLValue], _ number: Int64) -> Bool {
        values.count == columns.count && read(values, number: number) != nil
    }
}
