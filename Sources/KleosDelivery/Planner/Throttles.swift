package import KleosModel
package import KleosSupport

/// Who asked to be left alone, and until when. Pure; all times on the boot clock.
package struct Throttles: Sendable, Equatable {
    /// Until when nothing goes to the endpoint.
    package private(set) var endpointUntilBootMilliseconds: Int64 = 0
    private var players: [String: Int64] = [:]
    private var boards: [BoardKey: Int64] = [:]

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
        case .board where boards.count < Self.maximumEntries:
            boards[stream.board] = max(until, boards[stream.board] ?? 0)
        default: endpointUntilBootMilliseconds = max(until, endpointUntilBootMilliseconds)
        }
    }

    /// Players whose deliveries wait.
    package func excludedPlayers(now: ClockReading) -> Set<String> {
        Set(players.filter { $0.value > now.bootMilliseconds }.keys)
    }

    /// Leaderboards and achievements whose deliveries wait.
    package func excludedBoards(now: ClockReading) -> Set<BoardKey> {
        Set(boards.filter { $0.value > now.bootMilliseconds }.keys)
    }

    /// The players' and boards' throttles that are not over, the longest first.
    package func partial(now: ClockReading) -> [PartialThrottle] {
        let wall = now.wallMilliseconds - now.bootMilliseconds
        let all =
            players.map { PartialThrottle(scope: .player, name: $0, untilMilliseconds: wall + $1) }
            + boards.map {
                PartialThrottle(scope: .board, name: $0.item, game: $0.game, untilMilliseconds: wall + $1)
            }
        return all.filter { $0.untilMilliseconds > now.wallMilliseconds }.sorted {
            ($1.untilMilliseconds, $0.name ?? "", $0.game ?? "") < ($0.untilMilliseconds, $1.name ?? "", $1.game ?? "")
        }
    }

    /// When the next of the players' and boards' throttles ends, or ended unnoticed; nil where there is none.
    package var nextEndBootMilliseconds: Int64? {
        (Array(players.values) + Array(boards.values)).min()
    }

    /// Forgets players' and boards' throttles that are over; returns whether there were any.
    package mutating func prune(now: ClockReading) -> Bool {
        let before = players.count + boards.count
        players = players.filter { $0.value > now.bootMilliseconds }
        boards = boards.filter { $0.value > now.bootMilliseconds }
        return players.count + boards.count < before
    }
}
