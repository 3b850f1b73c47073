import KleosWire

/// What became of a catalog that a game brought.
public enum KleosRegistration: Sendable, Equatable {
    /// The game is known by it from now on.
    case registered
    /// The daemon had it already.
    case unchanged
    /// The player, or who looks after the machine, has a file for the game, which stays in force.
    case configured

    init(_ state: RegisterAnswer.State) {
        self =
            switch state {
            case .registered: .registered
            case .unchanged: .unchanged
            case .configured: .configured
            }
    }
}
