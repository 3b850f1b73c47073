/// The names under which the run measures; tables and aims find their values by them.
package enum Subject {
    /// One append of 256 bytes and one fdatasync at a time: D.
    package static let sync = "append and fdatasync (D)"
    /// The least that delivery costs.
    package static let post = "libcurl alone"
    /// Deliveries from a queue of some ten thousand.
    package static let deliveryShort = "delivery, short queue"
    /// Deliveries with the backlog waiting.
    package static let deliveryBacklog = "delivery, backlog"
    /// The log of one event that is submitted alone.
    package static let aloneEnqueue = "log of one event, enqueue"
    /// The log of the delivery of one event alone.
    package static let aloneDelivery = "log of one event, delivery"
    /// The queue of the backlog.
    package static let backlog = "backlog"
    /// SIGKILL to the first answered submission, with the backlog waiting.
    package static let killBacklog = "kill -9 to first answer, backlog"
    /// SIGKILL to the first answered submission, after a round of enqueueing.
    package static let kill = "kill -9 to first answer"
    /// From starting the daemon on an empty folder to its first answer.
    package static let start = "start to ready"
    /// The variant with a large catalog.
    package static let catalog = "10,000 boards"
    /// The same, with a catalog of ten thousand boards.
    package static let startCatalog = "start to ready, 10,000 boards"
    /// One `kleos submit`, from starting the program to its end.
    package static let program = "kleos submit, a process"

    /// SQLite's own limit.
    package static func sqlite(rows: Int) -> String { "SQLite, \(rows) row\(rows == 1 ? "" : "s") a commit" }

    /// Enqueueing to kleos; `variant` says what differs from ordered ids and a thousand players.
    package static func enqueue(_ shape: Shape, _ variant: String = "") -> String {
        "enqueue \(shape)" + (variant.isEmpty ? "" : ", \(variant)")
    }
}
