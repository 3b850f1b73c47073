import KleosModel

/// A word of the protocol that the database keeps as a number. Numbers are given once and stay.
protocol CodedWord: ColumnValue, CaseIterable, RawRepresentable where RawValue == String {
    /// The word's number.
    var code: Int64 { get }
    /// All words; kept, because they are looked through for each row that is read.
    static var words: [Self] { get }
}

extension CodedWord {
    static var declaration: String { "INTEGER NOT NULL" }
    init?(_ value: SQLValue) {
        guard case .integer(let number) = value, let word = Self.words.first(where: { $0.code == number }) else {
            return nil
        }
        self = word
    }
    var stored: SQLValue { .integer(code) }
    static func read(_ statement: Statement, _ column: Int32) -> Self? {
        guard let number = statement.exactInteger(column) else { return nil }
        return words.first { $0.code == number }
    }
    func bind(to statement: Statement, at index: Int32) { statement.bindInteger(code, at: index) }
}

extension DeliveryState: CodedWord {
    static let words = Array(allCases)

    var code: Int64 {
        switch self {
        case .waiting: 0
        case .ready: 1
        case .held: 2
        case .sending: 3
        case .delivered: 4
        case .superseded: 5
        case .dead: 6
        case .discarded: 7
        }
    }
}

extension DeliveryReason: CodedWord {
    static let words = Array(allCases)

    var code: Int64 {
        switch self {
        case .rejected: 0
        case .expired: 1
        case .ambiguous: 2
        case .serverErrors: 3
        case .unrenderable: 4
        case .operatorHold: 5
        case .unconfigured: 6
        case .clone: 7
        case .restored: 8
        case .standing: 9
        }
    }
}

extension SubjectKind: CodedWord {
    static let words = Array(allCases)

    var code: Int64 {
        switch self {
        case .score: 0
        case .achievement: 1
        }
    }
}

extension Outcome: CodedWord {
    static let words = Array(allCases)

    var code: Int64 {
        switch self {
        case .delivered: 0
        case .alreadyDone: 1
        case .retry: 2
        case .throttled: 3
        case .permanent: 4
        case .credentials: 5
        case .interrupted: 6
        }
    }
}
