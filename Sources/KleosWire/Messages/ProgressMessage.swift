package import KleosJSON

/// The notification `progress`: how far long work has come, told to whoever asked for it.
package struct ProgressMessage: Sendable, Equatable {
    /// The notification's method.
    package static let method = "progress"

    /// The method that asked for the work.
    package var task: String
    package var done: Int64
    package var total: Int64

    /// Makes a message.
    package init(task: String, done: Int64, total: Int64) {
        self.task = task
        self.done = done
        self.total = total
    }

    /// Reads a message's parameters; what is missing is empty.
    package init(json: JSONValue) {
        task = json["task"]?.stringValue ?? ""
        done = json["done"]?.int64Value ?? 0
        total = json["total"]?.int64Value ?? 0
    }

    /// The message's parameters.
    package var json: JSONValue { ["task": .string(task), "done": .integer(done), "total": .integer(total)] }
}
