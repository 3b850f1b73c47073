package import KleosModel
package import KleosSupport

/// Who asked to be left alone, and until when. Pure; all times on the boot clock.
package struct Throttles: Sendable, Equatable {
    /// Until when nothing goes to the endpoint.
    package private(set) var endpointUntilBootMilliseconds: Int64 = 0
    private var players: [String: Int64] = [:]
    private var items: [String: Int64] = [:]

    /// More entries than this are taken for a throttle of the whole endpoint.
    package static let maximumEntries = 256

    /// Makes an empty set.
    package init() {}

    /// The endpoint asked for `milliseconds` of rest because of a delivery of `stream`.
    package mutating func add(milliseconds: Int64, scope: ThrottleScope, stream: StreamKey, now: ClockReading) {
        let until = now.bootMilliseconds + milliseconds
        switch scope {
        case .player where players.count < Self.maximumEntries:
            players[stream.player] = max(until, players[stream.player] ?? 0)
        case .board where items.count < Self.maximumEntries:
            items[stream.item] = max(until, items[stream.item] ?? 0)
        default: endpointUntilBootMilliseconds = max(until, endpointUntilBootMilliseconds)
        }
    }

    /// Players whose deliveries wait.
    package func excludedPlayers(now: ClockReading) -> Set<String> {
        Set(players.filter { $0.value > now.bootMilliseconds }.keys)
    }

    /// Leaderboards and achievements whose deliveries wait.
    package func excludedItems(now: ClockReading) -> Set<String> {
        Set(items.filter { $0.value > now.bootMilliseconds }.keys)
    }

    /// The players' and boards' throttles that are not over, the longest first.
    package func partial(now: ClockReading) -> [PartialThrottle] {
        let all = players.map { (ThrottleScope.player, $0.key, $0.value) } + items.map { (.board, $0.key, $0.value) }
        return all.filter { $0.2 > now.bootMilliseconds }.sorted { ($1.2, $0.1) < ($0.2, $1.1) }.map {
            PartialThrottle(
                scope: $0.0, name: $0.1, untilMilliseconds: now.wallMilliseconds + $0.2 - now.bootMilliseconds)
        }
    }

    /// When the next of the players' and boards' throttles ends, or ended unnoticed; nil where there is none.
    package var nextEndBootMilliseconds: Int64? {
        (Array(players.values) + Array(items.values)).min()
    }

    /// Forgets players' and boards' throttles that are over; returns whether there were any.
    package mutating func prune(now: ClockReading) -> Bool {
        let before = players.count + items.count
        players = players.filter { $0.value > now.bootMilliseconds }
        items = items.filter { $0.value > now.bootMilliseconds }
        return players.count + items.count < before
    }
}
