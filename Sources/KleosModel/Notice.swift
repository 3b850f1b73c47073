/// What there is to tell a player; words are made of it when it is shown.
package struct NoticeFacts: Sendable, Equatable {
    package var kind: SubjectKind
    package var item: String
    /// The score, where it is one.
    package var value: ScoreValue?
    package var rank: Int64?
    /// Whether the event changed the board; nil where the service does not say.
    package var changed: Bool?

    /// Makes facts from their parts.
    package init(kind: SubjectKind, item: String, value: ScoreValue? = nil, rank: Int64? = nil, changed: Bool? = nil) {
        self.kind = kind
        self.item = item
        self.value = value
        self.rank = rank
        self.changed = changed
    }
}

/// What there may be to tell once everybody whose word counts has confirmed an event.
package enum NoticeDraft: Sendable, Equatable {
    /// It is news at the service that confirmed.
    case news(NoticeFacts)
    /// The service knew that the player has it. Told where something else brought it there and could not be told: a
    /// send without an answer that gave way to this event, or what was news at another service only.
    case known(NoticeFacts)

    /// What would be told.
    package var facts: NoticeFacts {
        switch self {
        case .news(let facts), .known(let facts): facts
        }
    }
}

/// Something to tell a player, kept until a route has shown it.
package struct Notice: Sendable, Equatable {
    /// Grows with each notice; the only order there is.
    package var number: Int64
    package var key: EventKey
    package var game: String
    package var player: String
    /// The user who submitted the event, and who is told.
    package var uid: UInt32
    package var facts: NoticeFacts
    /// When the endpoint confirmed the event, Unix milliseconds.
    package var createdMilliseconds: Int64
    /// When a route said that it was shown, Unix milliseconds.
    package var shownMilliseconds: Int64?
    /// The route that showed it.
    package var route: String?

    /// Makes a notice from its parts.
    package init(
        number: Int64, key: EventKey, game: String, player: String, uid: UInt32, facts: NoticeFacts,
        createdMilliseconds: Int64, shownMilliseconds: Int64? = nil, route: String? = nil
    ) {
        self.number = number
        self.key = key
        self.game = game
        self.player = player
        self.uid = uid
        self.facts = facts
        self.createdMilliseconds = createdMilliseconds
        self.shownMilliseconds = shownMilliseconds
        self.route = route
    }
}

/// Which confirmed events are worth telling.
package enum NoticeRule {
    /// What to tell about `event`, or nil.
    ///
    /// A score is told unless the service says that it changed nothing; an achievement only when it is complete, and
    /// as known when the player had it before. `mayBeOwnEcho` says that an earlier attempt may have taken effect
    /// unanswered: then "changed nothing" may be the echo of that attempt, and the player was never told.
    package static func draft(
        for event: Event, confirmation: Confirmation, outcome: Outcome, achievement: Achievement?, mayBeOwnEcho: Bool
    ) -> NoticeDraft? {
        let isStale = (confirmation.changed == false || outcome == .alreadyDone) && !mayBeOwnEcho
        switch event.subject {
        case .score(let leaderboard, let value):
            // A better one changes a board whatever came before it.
            if isStale { return nil }
            return .news(
                NoticeFacts(
                    kind: .score, item: leaderboard, value: value, rank: confirmation.rank,
                    changed: confirmation.changed))
        case .achievement(let id, let change):
            guard confirmation.unlocked ?? completes(change, achievement: achievement) else { return nil }
            let facts = NoticeFacts(kind: .achievement, item: id, changed: confirmation.changed)
            return isStale ? .known(facts) : .news(facts)
        }
    }

    private static func completes(_ change: AchievementChange, achievement: Achievement?) -> Bool {
        switch change {
        case .progress(let percent): percent == 100
        case .steps(let count): achievement?.steps.map { count >= $0 } ?? false
        case .increment: false
        }
    }
}
