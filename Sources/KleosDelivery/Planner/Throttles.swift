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
        prune(now: now)
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

    /// When the next of the players' and boards' throttles ends; nil where there is none.
    package func nextEndBootMilliseconds(now: ClockReading) -> Int64? {
        (Array(players.values) + Array(items.values)).filter { $0 > now.bootMilliseconds }.min()
    }

    private mutating func prune(now: ClockReading) {
        players = players.filter { $0.value > now.bootMilliseconds }
        items = items.filter { $0.value > now.bootMilliseconds }
    }
}
