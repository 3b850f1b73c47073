/// One player or one board that an endpoint asked to be spared for a while.
package struct PartialThrottle: Sendable, Equatable {
    /// `player` or `board`.
    package var scope: ThrottleScope
    /// The player, or the leaderboard's or achievement's id; nil where the reader may not know it.
    package var name: String?
    /// The board's game; nil for a player, and where the reader may not know it.
    package var game: String?
    /// Until when nothing of it goes out, Unix milliseconds.
    package var untilMilliseconds: Int64

    /// Makes a throttle from its parts.
    package init(scope: ThrottleScope, name: String?, game: String? = nil, untilMilliseconds: Int64) {
        self.scope = scope
        self.name = name
        self.game = game
        self.untilMilliseconds = untilMilliseconds
    }
}
