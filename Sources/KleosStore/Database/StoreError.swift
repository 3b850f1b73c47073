/// A failure of the outbox: what was tried, what it came to, and what to do next.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    /// What callers tell apart.
    package enum Kind: Sendable, Equatable {
        /// The disk is full.
        case full
        /// The database was written by a newer kleos.
        case newerSchema
        /// The database was written by a kleos whose schema is no longer read.
        case olderSchema
        /// The database belongs to another program.
        case foreign
        /// The folder is on a network file system.
        case networkFileSystem
        /// The database is no database any more.
        case damaged
        /// The database was moved away or removed while it was in use.
        case removed
        /// There is nothing of this name.
        case missing
        /// Another piece of such work is under way.
        case busy
        /// A backup cannot be written; the database itself is well.
        case backupFailed
        /// Another process has the database open.
        case locked
        /// The folder or the database cannot be written.
        case unwritable
        /// Reading or writing failed.
        case io
        /// The cursor of a list is none that the outbox gave out.
        case invalidCursor
        /// The outbox is closed, or failed before.
        case closed
        /// A fault of the program: SQL that does not fit the schema.
        case fault
    }

    package let kind: Kind
    /// What was being done, as a verb with its object.
    package let operation: String
    /// SQLite's extended result code, an errno for failures outside SQLite, or 0.
    package let code: Int32
    /// What went wrong and what to do next.
    package let message: String

    /// Makes an error from its parts.
    package init(_ kind: Kind, operation: String, code: Int32 = 0, message: String) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.message = message
    }

    package var description: String { "cannot \(operation): \(message)" }
}
