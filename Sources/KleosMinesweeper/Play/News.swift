/// Something that a game earned, and how far it has come. Pure.
package struct News: Sendable, Equatable {
    /// How far it has come.
    package enum State: Sendable, Equatable {
        /// On its way to kleos.
        case saving
        /// On disk with kleos, which sees to the rest.
        case saved
        /// The service has it; the rank where it told one, counted from 1.
        case confirmed(rank: Int64?)
        /// Kleos refused it.
        case refused(String)
    }

    /// Counts from 1; what a report about it names.
    package let number: Int
    /// The leaderboard's or achievement's id.
    package let item: String
    package let title: String
    package let detail: String
    package internal(set) var state: State
    /// When it last changed, of a clock that never goes back.
    package internal(set) var changedNanoseconds: Int64
    /// Whether it came from an earlier game, and so is news only because it was confirmed.
    package internal(set) var isOld = false
}
