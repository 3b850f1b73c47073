/// A text with translations: `Title=` and `Title[de]=`.
package struct LocalizedText: Sendable, Equatable {
    /// The text for every language without one of its own.
    package var standard: String
    /// Translations by language tag as written in the file: `de`, `pt_BR`.
    package var translations: [String: String]

    /// Makes a text.
    package init(_ standard: String, translations: [String: String] = [:]) {
        self.standard = standard
        self.translations = translations
    }

    /// The text for `locale` in POSIX form (`de_DE.UTF-8`): exact, then without territory, then the standard one.
    package func text(forLocale locale: String?) -> String {
        guard let locale else { return standard }
        let tag = locale.prefix { $0 != "." && $0 != "@" }
        let language = tag.prefix { $0 != "_" && $0 != "-" }
        return translations[String(tag)] ?? translations[String(language)] ?? standard
    }
}

/// Which of two scores is the better.
package enum SortOrder: String, Sendable, CaseIterable {
    /// Lower is better.
    case ascending
    /// Higher is better.
    case descending
}

/// What a leaderboard makes of a player's scores.
package enum KeepRule: String, Sendable, CaseIterable {
    /// Only the best counts.
    case best
    /// Only the newest counts.
    case latest
    /// Every score is an entry of its own.
    case every
    /// Scores add up.
    case sum
}

/// How a score is shown to people.
package enum ScoreFormat: String, Sendable, CaseIterable {
    /// As a number with thousands separated.
    case number
    /// Whole milliseconds, shown as a time.
    case milliseconds
    /// Seconds, shown as a time.
    case seconds
}

/// A leaderboard of a game's catalog.
package struct Leaderboard: Sendable, Equatable {
    package var id: String
    package var title: LocalizedText
    package var order: SortOrder
    package var keep: KeepRule
    package var format: ScoreFormat
    /// Digits after the decimal point, 0 … 9.
    package var decimals: Int
    /// The least value that is accepted.
    package var minimum: ScoreValue?
    /// The greatest value that is accepted.
    package var maximum: ScoreValue?

    /// Makes a leaderboard from its parts.
    package init(
        id: String, title: LocalizedText? = nil, order: SortOrder = .descending, keep: KeepRule = .best,
        format: ScoreFormat = .number, decimals: Int = 0, minimum: ScoreValue? = nil, maximum: ScoreValue? = nil
    ) {
        self.id = id
        self.title = title ?? LocalizedText(id)
        self.order = order
        self.keep = keep
        self.format = format
        self.decimals = decimals
        self.minimum = minimum
        self.maximum = maximum
    }
}

/// An achievement of a game's catalog.
package struct Achievement: Sendable, Equatable {
    package var id: String
    package var title: LocalizedText
    package var description: LocalizedText?
    package var points: Int
    /// Whether its description stays secret until it is unlocked.
    package var isHidden: Bool
    /// How many steps unlock it; nil where it has none.
    package var steps: Int64?

    /// Makes an achievement from its parts.
    package init(
        id: String, title: LocalizedText? = nil, description: LocalizedText? = nil, points: Int = 0,
        isHidden: Bool = false, steps: Int64? = nil
    ) {
        self.id = id
        self.title = title ?? LocalizedText(id)
        self.description = description
        self.points = points
        self.isHidden = isHidden
        self.steps = steps
    }
}
