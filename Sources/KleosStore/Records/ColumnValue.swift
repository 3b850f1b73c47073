import KleosModel

/// What a column can hold: how a property of a row becomes a value of the database, and is read back.
protocol ColumnValue: SendableMetatype {
    /// The column's type in a STRICT table, with NOT NULL where nothing else is possible.
    static var declaration: String { get }
    /// Reads a value; nil for one that the column never holds, which is damage.
    init?(_ value: SQLValue)
    /// The value as the database keeps it.
    var stored: SQLValue { get }
    /// Reads a column of a statement; nil for what the column never holds.
    static func read(_ statement: Statement, _ column: Int32) -> Self?
    /// Gives the value to the parameter `index` of a statement.
    func bind(to statement: Statement, at index: Int32)
}

extension ColumnValue {
    static func read(_ statement: Statement, _ column: Int32) -> Self? { Self(statement.value(column)) }
    func bind(to statement: Statement, at index: Int32) { statement.bind(stored, at: index) }
}

extension Int64: ColumnValue {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }
    var stored: SQLValue { .integer(self) }
    static func read(_ statement: Statement, _ column: Int32) -> Int64? { statement.exactInteger(column) }
    func bind(to statement: Statement, at index: Int32) { statement.bindInteger(self, at: index) }
}

extension Int: ColumnValue {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = Int(clamping: number)
    }
    var stored: SQLValue { .integer(Int64(self)) }
}

extension UInt32: ColumnValue {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .integer(let number) = value, let exact = UInt32(exactly: number) else { return nil }
        self = exact
    }
    var stored: SQLValue { .integer(Int64(self)) }
}

extension Int32: ColumnValue {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .integer(let number) = value, let exact = Int32(exactly: number) else { return nil }
        self = exact
    }
    var stored: SQLValue { .integer(Int64(self)) }
}

extension Bool: ColumnValue {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .integer(let number) = value, number == 0 || number == 1 else { return nil }
        self = number == 1
    }
    var stored: SQLValue { .integer(self ? 1 : 0) }
    static func read(_ statement: Statement, _ column: Int32) -> Bool? {
        guard let number = statement.exactInteger(column), number == 0 || number == 1 else { return nil }
        return number == 1
    }
    func bind(to statement: Statement, at index: Int32) { statement.bindInteger(self ? 1 : 0, at: index) }
}

extension String: ColumnValue {
    static var declaration: String { "TEXT NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }
    var stored: SQLValue { .text(self) }
}

extension Array: ColumnValue where Element == UInt8 {
    static var declaration: String { "BLOB NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .blob(let bytes) = value else { return nil }
        self = bytes
    }
    var stored: SQLValue { .blob(self) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    static var declaration: String { String(Wrapped.declaration.dropLast(" NOT NULL".utf8.count)) }
    init?(_ value: SQLValue) {
        if case .null = value {
            self = Optional.none
        } else if let wrapped = Wrapped(value) {
            self = Optional.some(wrapped)
        } else {
            return nil
        }
    }
    var stored: SQLValue { self?.stored ?? .null }
    static func read(_ statement: Statement, _ column: Int32) -> Self? {
        let absent: Self = nil
        if statement.isNull(column) { return absent }
        guard let wrapped = Wrapped.read(statement, column) else { return nil }
        let present: Self = wrapped
        return present
    }
    func bind(to statement: Statement, at index: Int32) {
        if let self { self.bind(to: statement, at: index) } else { statement.bindNull(at: index) }
    }
}

extension EventKey: ColumnValue {
    static var declaration: String { "BLOB NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .blob(let bytes) = value else { return nil }
        self.init(bytes: bytes)
    }
    var stored: SQLValue { .blob(bytes) }
}

extension MergeRule: ColumnValue {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        switch value {
        case .integer(0): self = .none
        case .integer(1): self = .best(.ascending)
        case .integer(2): self = .best(.descending)
        case .integer(3): self = .latest
        default: return nil
        }
    }
    var stored: SQLValue {
        switch self {
        case .none: 0
        case .best(.ascending): 1
        case .best(.descending): 2
        case .latest: 3
        }
    }
}

extension DeliveryPriority: ColumnValue {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .integer(let number) = value, let exact = DeliveryPriority(rawValue: Int(clamping: number)) else {
            return nil
        }
        self = exact
    }
    var stored: SQLValue { .integer(Int64(rawValue)) }
}
