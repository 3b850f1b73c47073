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
