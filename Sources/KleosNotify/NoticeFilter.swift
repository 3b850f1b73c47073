package import KleosModel

/// Whether a notice is shown, by the settings of its game. Pure.
package enum NoticeFilter {
    /// What becomes of a notice.
    package enum Verdict: Sendable, Equatable {
        /// It is shown.
        case tell
        /// Somebody else is playing; it is kept until its player is back.
        case wait
        /// It is never shown; the text says which setting decided so.
        case drop(String)
    }

    /// Judges a notice with `facts` for `player`; `present` holds the players of the game's connections that said who
    /// plays, and is empty where nobody did.
    ///
    /// A score without a rank is told: services that give none would silence a game altogether.
    package static func verdict(
        _ facts: NoticeFacts, player: String, settings: NoticeSettings, present: Set<String>
    ) -> Verdict {
        if settings.audience == .none { return .drop("Notices=none") }
        if !settings.kinds.contains(facts.kind) { return .drop("\(facts.kind.rawValue) notices are off") }
        if let minimum = settings.minimumRank, let rank = facts.rank, facts.kind == .score, rank > minimum {
            return .drop("rank \(rank) is worse than \(minimum)")
        }
        if settings.audience == .currentPlayer, !present.isEmpty, !ExactText.contains(present, player) { return .wait }
        return .tell
    }
}
