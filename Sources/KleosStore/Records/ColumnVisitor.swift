/// Goes over the columns of a row in the order of its declaration.
protocol ColumnVisitor {
    /// One column: its name, the property that it keeps, whether it belongs to the key, and an SQL condition that its
    /// values fulfil.
    mutating func visit<Value: ColumnValue>(_ name: String, _ value: inout Value, isKey: Bool, check: String?)
}

extension ColumnVisitor {
    /// A column of the key.
    mutating func key<Value: ColumnValue>(_ name: String, _ value: inout Value, check: String? = nil) {
        visit(name, &value, isKey: true, check: check)
    }

    /// Any other column.
    mutating func column<Value: ColumnValue>(_ name: String, _ value: inout Value, check: String? = nil) {
        visit(name, &value, isKey: false, check: check)
    }
}

/// A column as the schema has it.
struct Column: Sendable {
    let name: String
    /// The type in the table's SQL.
    let type: String
    let check: String?
    let isKey: Bool
}

/// Makes the list of a table's columns.
struct ColumnLister: ColumnVisitor {
    private(set) var columns: [Column] = []

    mutating func visit<Value: ColumnValue>(_ name: String, _ value: inout Value, isKey: Bool, check: String?) {
        columns.append(Column(name: name, type: Value.declaration, check: check, isKey: isKey))
    }
}

/// Which columns of a row are written, and in which order.
enum ColumnOrder {
    /// All, as declared.
    case declared
    /// Only the key.
    case key
    /// Only what is no key.
    case rest
}

/// Binds the columns of a row to the parameters of a statement, beginning at `next`.
struct ColumnBinder: ColumnVisitor {
    let statement: Statement
    let order: ColumnOrder
    var next: Int32 = 1

    mutating func visit<Value: ColumnValue>(_ name: String, _ value: inout Value, isKey: Bool, check: String?) {
        switch order {
        case .declared: break
        case .key: if !isKey { return }
        case .rest: if isKey { return }
        }
        value.bind(to: statement, at: next)
        next += 1
    }
}

/// Fills a row in from the columns of a statement, beginning at `next`.
struct ColumnReader: ColumnVisitor {
    let statement: Statement
    var next: Int32

    mutating func visit<Value: ColumnValue>(_ name: String, _ value: inout Value, isKey: Bool, check: String?) {
        if let read = Value.read(statement, next) {
            value = read
        } else {
            statement.reportDamage("the column \(name) holds what it never holds")
        }
        next += 1
    }
}

/// Fills a row in from values in the order of the columns, as a page has them.
struct ColumnFiller: ColumnVisitor {
    let values: [SQLValue]
    /// The row's number, which a page keeps beside the values.
    let number: Int64
    var next = 0
    private(set) var isFilled = true

    init(_ values: [SQLValue], number: Int64) {
        self.values = values
        self.number = number
    }

    mutating func visit<Value: ColumnValue>(_ name: String, _ value: inout Value, isKey: Bool, check: String?) {
        var found = next < values.count ? values[next] : .null
        if isKey, found == .null { found = .integer(number) }
        if let read = Value(found) { value = read } else { isFilled = false }
        next += 1
    }
}
