/// A row of a table: one declaration says its columns, and with them how it is made, read, written and salvaged.
protocol Record: Sendable {
    /// The table that rows of this kind are in.
    static var table: Table<Self> { get }
    /// Makes a row to be filled in.
    init()
    /// Names the columns, each with its property: the one declaration that all the rest follows from.
    mutating func visit(_ columns: inout some ColumnVisitor)
}

/// A table: its columns in the order in which a row has them, and its indexes.
final class Table<Row: Record>: Sendable {
    let name: String
    let columns: [Column]
    /// The SQL that makes the table and its indexes.
    let creation: [String]
    /// All columns, in order, of the table called `alias`.
    let list: String
    let insertSQL: SQL
    /// Writes all columns that are no key, where the key fits.
    let updateSQL: SQL
    /// Reads the row with a key.
    let selectSQL: SQL
    /// Removes the row with a key.
    let deleteSQL: SQL

    /// Declares a table; `alias` is its name in statements that join it. A key of one integer is the row's number;
    /// any other makes a table WITHOUT ROWID. `checks` are conditions on whole rows.
    init(_ name: String, alias: String, checks: [String] = [], indexes: [String] = []) {
        self.name = name
        var (row, lister) = (Row(), ColumnLister())
        row.visit(&lister)
        let columns = lister.columns
        self.columns = columns
        let keys = columns.filter(\.isKey)
        let isNumbered = keys.count == 1 && keys[0].type.hasPrefix("INTEGER")
        var lines = columns.map { column in
            let type = isNumbered && column.isKey ? "INTEGER PRIMARY KEY" : column.type
            return "\(column.name) \(type)\(column.check.map { " CHECK(\($0))" } ?? "")"
        }
        lines += checks.map { "CHECK(\($0))" }
        if !isNumbered { lines.append("PRIMARY KEY(\(keys.map(\.name).joined(separator: ", ")))") }
        let suffix = isNumbered ? "STRICT" : "STRICT, WITHOUT ROWID"
        creation = ["CREATE TABLE \(name)(\(lines.joined(separator: ", "))) \(suffix)"] + indexes
        list = columns.map { "\(alias).\($0.name)" }.joined(separator: ", ")
        let names = columns.map(\.name).joined(separator: ", ")
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        insertSQL = SQL("INSERT INTO \(name)(\(names)) VALUES(\(places))")
        let condition = keys.enumerated().map { "\($1.name) = ?\($0 + 1)" }.joined(separator: " AND ")
        let others = columns.filter { !$0.isKey }.enumerated().map { "\($1.name) = ?\($0 + keys.count + 1)" }
        updateSQL = SQL("UPDATE \(name) SET \(others.joined(separator: ", ")) WHERE \(condition)")
        selectSQL = SQL("SELECT \(list) FROM \(name) \(alias) WHERE \(condition)")
        deleteSQL = SQL("DELETE FROM \(name) WHERE \(condition)")
    }

    /// Reads the row whose columns begin at `column`. A value that the schema would not let in is damage.
    func read(_ statement: Statement, from column: Int = 0) -> Row {
        var row = Row()
        var reader = ColumnReader(statement: statement, next: Int32(column))
        row.visit(&reader)
        return row
    }

    /// Reads a row from its values in the order of the columns, as a page has them; nil where one does not fit.
    /// `number` is the row's number, which a page keeps beside the values.
    func read(_ values: [SQLValue], number: Int64) -> Row? {
        guard values.count <= columns.count else { return nil }
        var row = Row()
        var filler = ColumnFiller(values, number: number)
        row.visit(&filler)
        return filler.isFilled ? row : nil
    }
}

extension Connection {
    /// Adds a row. Throws `StoreError`.
    func insert<Row: Record>(_ row: Row) throws(StoreError) {
        try run(Row.table.insertSQL) { statement in
            var copy = row
            var binder = ColumnBinder(statement: statement, order: .declared)
            copy.visit(&binder)
        }
    }

    /// Writes all of a row that is there; returns whether it is. Throws `StoreError`.
    @discardableResult
    func update<Row: Record>(_ row: Row) throws(StoreError) -> Bool {
        try run(Row.table.updateSQL) { statement in
            var copy = row
            var keys = ColumnBinder(statement: statement, order: .key)
            copy.visit(&keys)
            var rest = ColumnBinder(statement: statement, order: .rest, next: keys.next)
            copy.visit(&rest)
        } == 1
    }

    /// Reads the row with the key `key`; nil where there is none. Throws `StoreError`.
    func find<Row: Record>(_ type: Row.Type, _ key: SQLValue...) throws(StoreError) -> Row? {
        try first(Row.table.selectSQL, values: key) { Row.table.read($0) }
    }

    /// Removes the row with the key `key`; returns whether there was one. Throws `StoreError`.
    @discardableResult
    func delete<Row: Record>(_ type: Row.Type, _ key: SQLValue...) throws(StoreError) -> Bool {
        try run(Row.table.deleteSQL, values: key) == 1
    }
}
