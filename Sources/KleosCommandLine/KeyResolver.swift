package import KleosClient
package import KleosModel
import KleosWire

/// Finds the events that a command line names.
package struct KeyResolver {
    /// The fewest characters of a key's end that name it.
    private static let minimumCharacters = 4
    private let session: Session
    private let socket: KleosSocketPaths.Socket

    /// Makes a resolver that asks over `session`, on `socket`: among everybody's events on the control socket, among
    /// one's own on the other.
    package init(_ session: Session, on socket: KleosSocketPaths.Socket) {
        self.session = session
        self.socket = socket
    }

    /// The keys that `texts` name: whole keys, or the ends of keys as `kleos list` shows them.
    /// Throws a failure for what names none, or several.
    package func keys(_ texts: [String]) throws(CommandFailure) -> [EventKey] {
        var keys: [EventKey] = []
        for text in texts {
            if let key = EventKey(text) { keys.append(key) } else { keys.append(try key(endingIn: text)) }
        }
        return keys
    }

    private func key(endingIn text: String) throws(CommandFailure) -> EventKey {
        let end = text.lowercased()
        guard end.count >= Self.minimumCharacters, end.allSatisfy({ $0.isHexDigit || $0 == "-" }) else {
            throw CommandFailure(
                .data, "\(text) is no event's key",
                hint: "a key looks like 0193764f-2f4b-7c5a-8a6e-0123456789ab; its last "
                    + "\(Self.minimumCharacters) or more characters are enough")
        }
        var found: Set<EventKey> = []
        var parameters = ListParameters(limit: ListParameters.maximumLimit)
        repeat {
            let answer = ListAnswer(
                json: try session.request(.list, parameters.parameters, on: socket))
            for row in answer.rows where row.key.description.hasSuffix(end) { found.insert(row.key) }
            parameters.cursor = answer.cursor
        } while parameters.cursor != nil
        guard let key = found.first else {
            throw CommandFailure(.data, "no event's key ends in \(text)", hint: "kleos list shows the keys")
        }
        guard found.count == 1 else {
            let keys = found.sorted().prefix(5).map(\.description).joined(separator: "\n  ")
            throw CommandFailure(.data, "\(found.count) keys end in \(text):\n  \(keys)", hint: "give more of it")
        }
        return key
    }
}
