import Glibc
import KleosSupport

/// What is known of libcurl's connections, and which request may go out over which. Belongs to the transfer thread.
///
/// libcurl chooses a connection by itself; a request is stopped there before its first byte where it must not use it.
/// libcurl does not look at what a server sent over a connection that waited: it would be taken for the answer to the
/// next request, and could confirm an event that nobody has seen.
final class Connections {
    /// Both ends, which no two open connections share.
    struct Key: Hashable {
        var localAddress: String
        var localPort: Int32
        var remoteAddress: String
        var remotePort: Int32
    }

    private struct Known {
        /// What went out over it last.
        weak var last: CurlTransfer?
        /// How many exchanges it carries.
        var exchanges = 1
        /// When it was opened, or an exchange over it was completed.
        var seenMilliseconds: Int64
        /// How many drops there were by then.
        var seenAfterDrops: Int
        /// Whether every answer on it says which request it belongs to, as in HTTP/2.
        var isMultiplexed = false
        /// Known once an exchange over it was completed.
        var socket: Int32?
    }

    private var known: [Key: Known] = [:]
    private var freshness = ConnectionFreshness()
    /// When an origin last left a connection without a word right after using it.
    private var leftAt: [String: Int64] = [:]

    /// Where a request must not be repeated, a connection may have been idle for so long.
    let idleMillisecondsForOnce: Int64
    /// Where a request must not be repeated, an origin that left without a word is not trusted for so long.
    static let distrustMilliseconds: Int64 = 600_000

    init(idleMillisecondsForOnce: Int64) { self.idleMillisecondsForOnce = idleMillisecondsForOnce }

    /// Connections and addresses from before now are stale, of `origin` or of all.
    func drop(origin: String? = nil, nowMilliseconds now: Int64) {
        if let origin {
            freshness.drop(origin: origin, atMilliseconds: now)
        } else {
            freshness.drop(atMilliseconds: now)
        }
    }

    func maximumAddressSeconds(origin: String, nowMilliseconds now: Int64) -> Int64 {
        freshness.maximumAddressSeconds(origin: origin, atMilliseconds: now)
    }

    /// Whether a request that must not be repeated needs a connection of its own.
    func mustBeNew(for route: TransportRoute, nowMilliseconds now: Int64) -> Bool {
        guard route.mustGoOutOnce, let left = leftAt[route.origin] else { return false }
        return now - left < Self.distrustMilliseconds
    }

    /// A request is about to go out over a connection that is new.
    func begin(_ transfer: CurlTransfer, new key: Key, nowMilliseconds now: Int64) {
        if known.count > 256 { forgetIdle(nowMilliseconds: now) }
        known[key] = Known(last: transfer, seenMilliseconds: now, seenAfterDrops: freshness.dropCount)
    }

    /// Whether the request of `route` may go out over a connection that was used before; if so, it does.
    func begin(
        _ transfer: CurlTransfer, used key: Key, for route: TransportRoute, nowMilliseconds now: Int64
    ) -> Bool {
        known[key]?.last?.isFollowed(over: key, nowMilliseconds: now)
        guard var connection = known[key],
            !freshness.isStale(origin: route.origin, seenAfter: connection.seenAfterDrops)
        else { return false }
        if route.mustGoOutOnce {
            // Of several exchanges over a connection that breaks nobody knows which were read.
            guard connection.exchanges == 0, now - connection.seenMilliseconds <= idleMillisecondsForOnce else {
                return false
            }
        }
        // One that carries an exchange already is multiplexed, whether or not an answer has shown it yet.
        if connection.exchanges == 0, !connection.isMultiplexed {
            guard let socket = connection.socket else { return false }
            guard Self.isQuiet(socket) else {
                if now - connection.seenMilliseconds <= idleMillisecondsForOnce {
                    leave(origin: route.origin, nowMilliseconds: now)
                }
                return false
            }
        }
        connection.last = transfer
        connection.exchanges += 1
        known[key] = connection
        return true
    }

    /// An exchange over the connection ended; `socket` is that of a connection which waits for the next one.
    func end(_ key: Key, socket: Int32?, isMultiplexed: Bool, isComplete: Bool, nowMilliseconds now: Int64) {
        guard var connection = known[key] else { return }
        connection.exchanges -= 1
        connection.isMultiplexed = connection.isMultiplexed || isMultiplexed
        if isComplete {
            connection.seenMilliseconds = now
            connection.seenAfterDrops = freshness.dropCount
            connection.socket = socket
        }
        let isOpen = connection.exchanges > 0 || isComplete && (connection.isMultiplexed || socket != nil)
        known[key] = isOpen ? connection : nil
    }

    /// The origin left a connection without a word, when it had just been used or while it was.
    func leave(origin: String, nowMilliseconds now: Int64) {
        if leftAt.count > 256 { leftAt = [:] }
        leftAt[origin] = now
    }

    /// libcurl uses none again that waited for longer, so that nothing is lost.
    private func forgetIdle(nowMilliseconds now: Int64) {
        let limit = ConnectionFreshness.usualIdleSeconds * 1_000
        known = known.filter { $0.value.exchanges > 0 || now - $0.value.seenMilliseconds <= limit }
    }

    /// Whether the server has neither said anything nor left.
    private static func isQuiet(_ socket: Int32) -> Bool {
        // POLLRDHUP, which Glibc's module does not show.
        var entry = pollfd(fd: socket, events: Int16(POLLIN) | 0x2000, revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, 0) } == 0
    }
}
