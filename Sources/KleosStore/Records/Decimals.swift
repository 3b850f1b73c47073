import KleosModel

/// How many decimals a value has; there are values with 0 … 9.
struct Decimals: ColumnValue {
    let count: Int

    static var declaration: String { "INTEGER NOT NULL" }

    init(_ count: Int) { self.count = count }

    init?(_ value: SQLValue) {
        guard case .integer(let number) = value, (0...Int64(ScoreValue.maximumDecimals)).contains(number) else {
            return nil
        }
        count = Int(number)
    }

    var stored: SQLValue { .integer(Int64(count)) }
}
