import Glibc
import KleosSupport

/// The sockets of connections that wait for their next request, by origin.
///
/// libcurl does not look at a waiting connection before it uses it again: what a server sent meanwhile would be taken
/// for the answer to the next request, and could confirm an event that nobody has seen.
struct IdleConnections {
    private var sockets: [String: Set<Int32>] = [:]

    /// An exchange with `origin` ended, and left `socket` to the next one.
    mutating func add(_ socket: Int32, origin: String) {
        sockets[origin, default: []].insert(socket)
    }

    /// Whether the server has said something, or has left, at any of the connections to `origin` besides those that are
    /// at work, `busy`. Such connections are forgotten. A number that belongs to something else by now can only bring a
    /// connection too many.
    mutating func hasUnexpectedInput(origin: String, besides busy: Set<Int32>) -> Bool {
        guard let known = sockets[origin] else { return false }
        var entries = known.subtracting(busy).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard !entries.isEmpty, Retry.onInterrupt({ poll(&entries, nfds_t(entries.count), 0) }) > 0 else {
            return false
        }
        let noticed = entries.filter { $0.revents != 0 }
        let left = known.subtracting(noticed.map(\.fd))
        sockets[origin] = left.isEmpty ? nil : left
        // What libcurl has closed says nothing.
        return noticed.contains { $0.revents & Int16(POLLNVAL) == 0 }
    }
}
