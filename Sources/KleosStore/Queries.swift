package import KleosModel

/// Which standings; nil means any.
package struct StandingQuery: Sendable, Equatable {
    package var game: String?
    package var player: String?
    package var endpoint: String?
    package var kind: SubjectKind?
    package var item: String?
    /// At most so many.
    package var limit: Int

    /// Makes a query.
    package init(
        game: String? = nil, player: String? = nil, endpoint: String? = nil, kind: SubjectKind? = nil,
        item: String? = nil, limit: Int = 1_000
    ) {
        self.game = game
        self.player = player
        self.endpoint = endpoint
        self.kind = kind
        self.item = item
        self.limit = limit
    }
}

/// Which notices; nil means any.
package struct NoticeQuery: Sendable, Equatable {
    package var uid: UInt32?
    package var game: String?
    package var player: String?
    /// Whether only what nobody was shown yet.
    package var isPendingOnly: Bool
    /// Only those with a greater number.
    package var afterNumber: Int64
    /// At most so many.
    package var limit: Int

    /// Makes a query.
    package init(
        uid: UInt32? = nil, game: String? = nil, player: String? = nil, isPendingOnly: Bool = false,
        afterNumber: Int64 = 0, limit: Int = 200
    ) {
        self.uid = uid
        self.game = game
        self.player = player
        self.isPendingOnly = isPendingOnly
        self.afterNumber = afterNumber
        self.limit = limit
    }
}

/// Which of a user's notices a route may claim; nil means any.
package struct NoticeScope: Sendable, Equatable {
    /// A game's player, who is told by the game itself for a while.
    package struct Reader: Sendable, Equatable {
        package var game: String
        package var player: String

        /// Makes a reader.
        package init(game: String, player: String) {
            self.game = game
            self.player = player
        }
    }

    /// The players who play a game at the moment.
    package struct Players: Sendable, Equatable {
        package var game: String
        /// At most 64 are looked at.
        package var players: [String]

        /// Makes players.
        package init(game: String, players: [String]) {
            self.game = game
            self.players = players
        }
    }

    package var game: String?
    package var player: String?
    /// Only those with a greater number.
    package var afterNumber: Int64
    /// In these games only notices of these players; those of others wait. At most 64 games are looked at.
    package var atPlay: [Players]
    /// Those whose newer notices are left to somebody else; at most 64 are looked at.
    package var reserved: [Reader]
    /// Notices made after this are left to `reserved`, Unix milliseconds.
    package var reservedSinceMilliseconds: Int64

    /// Makes a scope.
    package init(
        game: String? = nil, player: String? = nil, afterNumber: Int64 = 0, atPlay: [Players] = [],
        reserved: [Reader] = [], reservedSinceMilliseconds: Int64 = 0
    ) {
        self.afterNumber = afterNumber
        self.atPlay = Array(atPlay.prefix(64))
        self.game = game
        self.player = player
        self.reserved = Array(reserved.prefix(64))
        self.reservedSinceMilliseconds = reservedSinceMilliseconds
    }
}
