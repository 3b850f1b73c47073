/// How many clients submit at once, and how many events each leaves unanswered.
package struct Shape: Sendable, Hashable, CustomStringConvertible {
    /// Connections.
    package let clients: Int
    /// Unanswered events of each connection.
    package let window: Int

    /// Makes a shape; both counts are at least 1.
    package init(clients: Int, window: Int) {
        precondition(clients > 0 && window > 0, "a shape has clients with something outstanding")
        self.clients = clients
        self.window = window
    }

    package var description: String { "\(clients)x\(window)" }

    /// The four shapes that the table of aims names.
    package static let all = [
        Shape(clients: 1, window: 1), Shape(clients: 16, window: 1), Shape(clients: 1, window: 256),
        Shape(clients: 16, window: 256),
    ]
}
