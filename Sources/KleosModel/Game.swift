/// Which of a game's endpoints must confirm an event before the player is told.
package enum ConfirmRule: Sendable, Equatable {
    /// The first endpoint listed.
    case first
    /// All endpoints.
    case all
    /// The endpoint of this name.
    case endpoint(String)
}

/// Whose notices are shown.
package enum NoticeAudience: String, Sendable, CaseIterable {
    /// The player who is playing now; anyone where no game is connected.
    case currentPlayer = "current-player"
    case all
    case none
}

/// What a game tells the player.
package struct NoticeSettings: Sendable, Equatable {
    package var audience: NoticeAudience
    /// The kinds of event that make a notice.
    package var kinds: Set<SubjectKind>
    /// Scores ranked worse than this make no notice; nil for no limit. Ranks count from 1.
    package var minimumRank: Int64?

    /// Makes settings; the defaults are those of a game's file.
    package init(
        audience: NoticeAudience = .currentPlayer, kinds: Set<SubjectKind> = [.score, .achievement],
        minimumRank: Int64? = nil
    ) {
        self.audience = audience
        self.kinds = kinds
        self.minimumRank = minimumRank
    }

    /// Which of the settings keeps `facts` from being told, for people; nil where they are told.
    ///
    /// A score without a rank is told: services that give none would silence a game altogether.
    package func silence(_ facts: NoticeFacts) -> String? {
        if audience == .none { return "Notices=none" }
        if !kinds.contains(facts.kind) { return "\(facts.kind.rawValue) notices are off" }
        if let minimumRank, let rank = facts.rank, facts.kind == .score, rank > minimumRank {
            return "rank \(rank) is worse than \(minimumRank)"
        }
        return nil
    }
}

/// Who may submit for a game. Numbers, resolved from names when the configuration is read.
package struct SubmitPermission: Sendable, Equatable {
    package var uids: Set<UInt32>
    package var gids: Set<UInt32>
    /// Whether anyone may.
    package var isOpen: Bool
    /// Patterns, with * for any text, of the systemd units from which those who may do; empty for any process.
    package var units: [String]

    /// Makes a permission; empty sets permit nobody but root and the daemon's own user.
    package init(uids: Set<UInt32> = [], gids: Set<UInt32> = [], isOpen: Bool = false, units: [String] = []) {
        self.uids = uids
        self.gids = gids
        self.isOpen = isOpen
        self.units = units
    }

    /// Whether a process of `unit`, nil where that is not known, may submit; root may from anywhere.
    package func allows(unit: String?, uid: UInt32) -> Bool {
        guard !units.isEmpty, uid != 0 else { return true }
        guard let unit else { return false }
        return units.contains { Self.matches(unit, pattern: $0) }
    }

    /// Whether `text` is `pattern`, in which each * stands for any text.
    private static func matches(_ text: String, pattern: String) -> Bool {
        let pieces = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else { return text == pattern }
        guard text.count >= first.count + last.count, text.hasPrefix(first), text.hasSuffix(last) else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            var start = rest.startIndex
            while start != rest.endIndex, !rest[start...].hasPrefix(piece) { rest.formIndex(after: &start) }
            guard start != rest.endIndex else { return false }
            rest = rest[start...].dropFirst(piece.count)
        }
        return true
    }

    /// Whether a peer with `uid` and `groups` may submit to a daemon that runs as `daemonUID`.
    package func allows(uid: UInt32, groups: [UInt32], daemonUID: UInt32) -> Bool {
        isOpen || uid == 0 || uid == daemonUID || uids.contains(uid) || groups.contains(where: gids.contains)
    }
}

/// A game: its catalog, its endpoints and its rules.
package struct Game: Sendable, Equatable {
    package var id: String
    package var title: LocalizedText
    /// Names of the endpoints that each event goes to, in order.
    package var endpoints: [String]
    package var confirms: ConfirmRule
    /// The player of events that name none.
    package var player: String?
    /// The players that events may name; nil for any.
    package var allowedPlayers: Set<String>?
    package var permission: SubmitPermission
    package var notices: NoticeSettings
    /// What starts it: a `.desktop` file's id, or a program's whole path and its arguments; empty for nothing.
    package var start: [String] = []
    /// What is written on a notice's action that leads to the game; nil for "Open" and its title.
    package var openLabel: LocalizedText?
    /// By id.
    package var leaderboards: [String: Leaderboard]
    /// By id.
    package var achievements: [String: Achievement]

    /// Makes a game from its parts.
    package init(
        id: String, title: LocalizedText? = nil, endpoints: [String] = [], confirms: ConfirmRule = .first,
        player: String? = nil, allowedPlayers: Set<String>? = nil,
        permission: SubmitPermission = SubmitPermission(), notices: NoticeSettings = NoticeSettings(),
        leaderboards: [Leaderboard] = [], achievements: [Achievement] = []
    ) {
        self.id = id
        self.title = title ?? LocalizedText(id)
        self.endpoints = endpoints
        self.confirms = confirms
        self.player = player
        self.allowedPlayers = allowedPlayers
        self.permission = permission
        self.notices = notices
        self.leaderboards = Dictionary(leaderboards.map { ($0.id, $0) }) { _, last in last }
        self.achievements = Dictionary(achievements.map { ($0.id, $0) }) { _, last in last }
    }
}
