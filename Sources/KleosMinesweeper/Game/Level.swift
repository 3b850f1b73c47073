/// The three sizes of a game; each has a leaderboard of its name.
package enum Level: String, Sendable, CaseIterable {
    case beginner
    case intermediate
    case advanced

    /// Columns.
    package var width: Int {
        switch self {
        case .beginner: 9
        case .intermediate: 16
        case .advanced: 30
        }
    }

    /// Rows.
    package var height: Int {
        switch self {
        case .beginner: 9
        case .intermediate, .advanced: 16
        }
    }

    /// Mines in the field.
    package var mines: Int {
        switch self {
        case .beginner: 10
        case .intermediate: 40
        case .advanced: 99
        }
    }
}
