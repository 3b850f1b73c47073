import Synchronization

/// The text of a statement, with the number by which its prepared form is found.
///
/// A text that is kept in a `static let` is prepared once and stays so; what is needed once in a while is `once`.
final class SQL: Sendable {
    private static let count = Mutex(0)

    /// Counts from 0, in the order in which texts are first used; nil for what is not kept prepared.
    let id: Int?
    let text: String

    /// Makes a text that stays prepared; for constants of the program.
    init(_ text: String) {
        self.text = text
        id = Self.count.withLock { count in
            defer { count += 1 }
            return count
        }
    }

    private init(once text: String) {
        self.text = text
        id = nil
    }

    /// A text that is prepared, executed and forgotten.
    static func once(_ text: String) -> SQL { SQL(once: text) }
}
