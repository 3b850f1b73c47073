import KleosWire

/// A player's wish to see what a notice was about.
///
/// A game that does not run is started with the same in its environment: `KLEOS_EVENT` (the key), `KLEOS_PLAYER`,
/// `KLEOS_LEADERBOARD` or `KLEOS_ACHIEVEMENT`, and `XDG_ACTIVATION_TOKEN`.
public struct KleosOpenRequest: Sendable, Equatable {
    /// The notice.
    public let notice: KleosNotice
    /// What the desktop wants to see before it lets the window come to the front (xdg-activation); nil without.
    public let activationToken: String?

    init(_ message: OpenMessage) {
        notice = KleosNotice(message.notice)
        activationToken = message.activationToken
    }
}
