import KleosModel
import KleosWire

/// What a connection wants to be told of, and may be.
struct Subscription {
    var topics: Set<Topic>
    var game: String?
    var player: String?
    /// Only this user's; nil for an operator, who sees everything.
    var uid: UInt32?

    /// Whether something about this user, game and player concerns the subscriber.
    func covers(uid: UInt32, game: String, player: String) -> Bool {
        (self.uid.map { $0 == uid } ?? true) && (self.game.map { $0 == game } ?? true)
            && (self.player.map { ExactText.same($0, player) } ?? true)
    }
}
