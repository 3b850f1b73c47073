package import KleosWire

/// A game that is connected, with what it said about itself; it ends with the connection.
package struct Presence: Sendable, Equatable {
    /// The user that the game runs as.
    package var uid: UInt32
    package var game: String
    /// Nil where the game has no player yet.
    package var player: String?
    package var state: PresenceState
    /// Whether the game is told of notices as they are made.
    package var isSubscribedToNotices: Bool

    /// Whether the game shows its player's notices itself.
    package var showsNotices: Bool { state == .foreground && isSubscribedToNotices }

    /// Whether the game shows notices of this player itself.
    package func shows(uid: UInt32, game: String, player: String) -> Bool {
        showsNotices && self.uid == uid && self.game == game
            && (self.player.map { $0.utf8.elementsEqual(player.utf8) } ?? false)
    }
}
