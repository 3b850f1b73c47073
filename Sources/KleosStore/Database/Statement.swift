import CSQLite

/// A prepared statement, finalized when the last reference goes.
///
/// Why its pointers are sound: SQLite copies what is bound before the call returns (SQLITE_TRANSIENT), and its column
/// pointers stay valid until the next step or reset, before which every reader here has copied; the pointer is asked
/// for before its count, as sqlite3_column_bytes(3) demands. No value reaches 2 GiB: requests and answers are limited.
final class Statement {
    /// The SQL, for errors.
    let sql: String
    private let handle: OpaquePointer
    /// What the row says that it cannot say in a whole database.
    private(set) var damage: String?

    /// Takes over a prepared statement.
    init(owning handle: OpaquePointer, sql: String) {
        self.handle = handle
        self.sql = sql
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Binds `values` to the parameters in order; their number must fit.
    func bind(_ values: [SQLValue]) {
        precondition(sqlite3_bind_parameter_count(handle) == Int32(values.count), "wrong number of values for \(sql)")
        for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
    }

    /// Binds a value to the parameter `index`, counted from 1.
    func bind(_ value: SQLValue, at index: Int32) {
        let code: Int32
        switch value {
        case .null: code = sqlite3_bind_null(handle, index)
        case .integer(let number): code = sqlite3_bind_int64(handle, index, number)
        case .text(var text):
            code = text.withUTF8 { bytes in
                // SQLite reads a null pointer as NULL, also where the length is zero.
                guard let start = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_text(handle, index, "", 0, kleos_sqlite_transient())
                }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text(handle, index, $0, Int32(bytes.count), kleos_sqlite_transient())
                }
            }
        case .blob(let bytes):
            code = bytes.withUnsafeBytes { buffer in
                guard let start = buffer.baseAddress, !buffer.isEmpty else {
                    return sqlite3_bind_zeroblob(handle, index, 0)
                }
                return sqlite3_bind_blob(handle, index, start, Int32(buffer.count), kleos_sqlite_transient())
            }
        }
        precondition(code == SQLITE_OK || code == SQLITE_NOMEM, "cannot bind value \(index) of \(sql): \(code)")
    }

    /// Binds an integer to the parameter `index`.
    func bindInteger(_ number: Int64, at index: Int32) {
        let code = sqlite3_bind_int64(handle, index, number)
        precondition(code == SQLITE_OK, "cannot bind value \(index) of \(sql): \(code)")
    }

    /// Binds NULL to the parameter `index`.
    func bindNull(at index: Int32) {
        let code = sqlite3_bind_null(handle, index)
        precondition(code == SQLITE_OK, "cannot bind value \(index) of \(sql): \(code)")
    }

    /// The column as an integer; nil where it holds anything else.
    func exactInteger(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_INTEGER ? integer(column) : nil
    }

    /// Notes down that the row cannot be what was once written; whoever executes the statement then fails.
    func reportDamage(_ what: String) { damage = what }

    /// Goes to the next row. Returns SQLite's code: SQLITE_ROW, SQLITE_DONE or an error.
    func step() -> Int32 { sqlite3_step(handle) }

    /// Ends the execution and forgets the values, so that the read lock and the memory go.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        damage = nil
    }

    /// The column, whatever it holds; fractions, which no table has, count as NULL.
    func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(bytes(column))
        default: .null
        }
    }

    /// Whether the column is NULL.
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The column as an integer; 0 where it is NULL.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The column as an integer.
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// The column as a truth value; false where it is NULL.
    func flag(_ column: Int32) -> Bool { integer(column) != 0 }

    /// The column as text; empty where it is NULL.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The column as text.
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// The column as bytes; empty where it is NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// The column as bytes.
    func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}
