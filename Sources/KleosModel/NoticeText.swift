/// What a notice says, in words.
package struct NoticeText: Sendable, Equatable {
    /// One line.
    package var title: String
    /// Lines separated by line feeds; plain text without markup.
    package var body: String
    /// The game's title.
    package var gameTitle: String
    /// The leaderboard's or achievement's title; nil where the text is about several.
    package var itemTitle: String?
    /// What is written on the action that leads to the game; nil where its file does not say.
    package var openLabel: String?

    /// Makes a text from its parts.
    package init(
        title: String, body: String, gameTitle: String, itemTitle: String? = nil, openLabel: String? = nil
    ) {
        self.openLabel = openLabel
        self.title = title
        self.body = body
        self.gameTitle = gameTitle
        self.itemTitle = itemTitle
    }

    /// The words for one notice of the game `gameID`.
    ///
    /// `game` is nil where the game is not in the configuration; `locale` is in POSIX form (`de_DE.UTF-8`). What the
    /// catalog does not hold is called by its id. A hidden achievement is named: it is unlocked now.
    package static func text(for facts: NoticeFacts, gameID: String, game: Game?, locale: String?) -> NoticeText {
        let gameTitle = game?.title.text(forLocale: locale) ?? gameID
        var text =
            switch facts.kind {
            case .achievement:
                achievement(facts, game?.achievements[facts.item], gameTitle: gameTitle, locale: locale)
            case .score: score(facts, game?.leaderboards[facts.item], gameTitle: gameTitle, locale: locale)
            }
        text.openLabel = game?.openLabel?.text(forLocale: locale)
        return text
    }

    private static func achievement(
        _ facts: NoticeFacts, _ achievement: Achievement?, gameTitle: String, locale: String?
    ) -> NoticeText {
        let name = achievement?.title.text(forLocale: locale) ?? facts.item
        var lines: [String] = []
        if let description = achievement?.description?.text(forLocale: locale), !description.isEmpty {
            lines.append(description)
        }
        let points = achievement?.points ?? 0
        lines.append(points > 0 ? "\(Counted.text(points, "point")) · \(gameTitle)" : gameTitle)
        return NoticeText(
            title: "Achievement unlocked: \(name)", body: lines.joined(separator: "\n"), gameTitle: gameTitle,
            itemTitle: name)
    }

    private static func score(
        _ facts: NoticeFacts, _ leaderboard: Leaderboard?, gameTitle: String, locale: String?
    ) -> NoticeText {
        let name = leaderboard?.title.text(forLocale: locale) ?? facts.item
        let value = facts.value.map { ScoreText.text($0, leaderboard: leaderboard) }
        var parts: [String] = []
        if facts.changed == true, leaderboard?.keep ?? .best == .best { parts.append("New best") }
        if let rank = facts.rank { parts.append("Rank \(rank)") }
        parts.append(gameTitle)
        return NoticeText(
            title: value.map { "\(name): \($0)" } ?? name, body: parts.joined(separator: " · "),
            gameTitle: gameTitle, itemTitle: name)
    }

    /// The words for many notices of one game at once: "7 achievements and 12 scores were saved while you were away".
    ///
    /// `isLate` says that they waited for somebody to be told. At least one of the two counts is not zero.
    package static func digest(achievements: [String], scores: Int, gameTitle: String, isLate: Bool) -> NoticeText {
        var counts: [String] = []
        if !achievements.isEmpty { counts.append(Counted.text(achievements.count, "achievement")) }
        if scores > 0 { counts.append(Counted.text(scores, "score")) }
        let verb = achievements.count + scores == 1 ? "was" : "were"
        var lines = ["\(Counted.list(counts)) \(verb) saved\(isLate ? " while you were away" : "")"]
        var names = Array(achievements.prefix(maximumNames))
        if achievements.count > maximumNames { names.append("\(achievements.count - maximumNames) more") }
        if !names.isEmpty { lines.append(Counted.list(names)) }
        return NoticeText(title: gameTitle, body: lines.joined(separator: "\n"), gameTitle: gameTitle)
    }

    /// A digest names at most so many achievements.
    private static let maximumNames = 3
}
