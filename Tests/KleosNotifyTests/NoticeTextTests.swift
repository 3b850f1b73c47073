import KleosModel
import KleosNotify
import Testing

@Suite("The words of notices")
struct NoticeTextTests {
    private let game = Game(
        id: "minesweeper",
        title: LocalizedText("Mission: Minesweeper", translations: ["de": "Mission: Minensuche"]),
        leaderboards: [
            Leaderboard(id: "beginner", title: LocalizedText("Beginner"), order: .ascending, format: .milliseconds),
            Leaderboard(id: "total", keep: .sum),
        ],
        achievements: [
            Achievement(
                id: "impossible-mission", title: LocalizedText("Impossible Mission"),
                description: LocalizedText("Won by uncovering a cell surrounded by eight mines"), points: 100,
                isHidden: true),
            Achievement(id: "first-win", title: LocalizedText("First Win"), points: 1),
        ])

    private func text(_ facts: NoticeFacts, locale: String? = nil) -> NoticeText {
        NoticeText.text(for: facts, gameID: "minesweeper", game: game, locale: locale)
    }

    @Test func anAchievementHasItsDescriptionAndPoints() {
        let text = text(NoticeFacts(kind: .achievement, item: "impossible-mission"))
        #expect(text.title == "Achievement unlocked: Impossible Mission")
        #expect(
            text.body == """
                Won by uncovering a cell surrounded by eight mines
                100 points · Mission: Minesweeper
                """)
    }

    @Test func onePointIsSingular() {
        #expect(text(NoticeFacts(kind: .achievement, item: "first-win")).body == "1 point · Mission: Minesweeper")
    }

    @Test func aScoreIsShownInTheBoardsFormatWithRankAndNewBest() {
        let facts = NoticeFacts(
            kind: .score, item: "beginner", value: ScoreValue(units: 12_345), rank: 3, changed: true)
        #expect(text(facts).title == "Beginner: 12.345 s")
        #expect(text(facts).body == "New best · Rank 3 · Mission: Minesweeper")
    }

    @Test func aSumIsNoNewBest() {
        let facts = NoticeFacts(kind: .score, item: "total", value: ScoreValue(units: 8_080), changed: true)
        #expect(text(facts).title == "total: 8,080")
        #expect(text(facts).body == "Mission: Minesweeper")
    }

    @Test func titlesFollowTheLocale() {
        let facts = NoticeFacts(kind: .score, item: "beginner", rank: 1)
        #expect(text(facts, locale: "de_AT.UTF-8").body == "Rank 1 · Mission: Minensuche")
    }

    @Test func theGamesFileNamesTheAction() {
        var game = game
        let facts = NoticeFacts(kind: .score, item: "beginner")
        func label(_ locale: String?) -> String {
            let text = NoticeText.text(for: facts, gameID: game.id, game: game, locale: locale)
            return DesktopNotification(text: text, kind: .score).openLabel
        }
        #expect(label("de_DE.UTF-8") == "Open Mission: Minensuche")
        game.openLabel = LocalizedText("Play", translations: ["de": "Spielen"])
        #expect(label(nil) == "Play")
        #expect(label("de_DE.UTF-8") == "Spielen")
    }

    @Test func whatTheCatalogLacksIsCalledByItsID() {
        let facts = NoticeFacts(kind: .achievement, item: "gone")
        let text = NoticeText.text(for: facts, gameID: "old-game", game: nil, locale: nil)
        #expect(text.title == "Achievement unlocked: gone")
        #expect(text.body == "old-game")
    }

    @Test(
        arguments: [
            (7, 12, "7 achievements and 12 scores were saved while you were away"),
            (1, 1, "1 achievement and 1 score were saved while you were away"),
            (1, 0, "1 achievement was saved while you were away"),
            (0, 2, "2 scores were saved while you were away"),
        ])
    func aDigestCounts(achievements: Int, scores: Int, expected: String) {
        let names = (0..<achievements).map { "A\($0)" }
        let text = NoticeText.digest(achievements: names, scores: scores, gameTitle: "G", isLate: true)
        #expect(text.title == "G")
        #expect(text.body.split(separator: "\n").first.map(String.init) == expected)
    }

    @Test func aDigestNamesThreeAchievements() {
        let text = NoticeText.digest(
            achievements: ["A", "B", "C", "D", "E"], scores: 0, gameTitle: "G", isLate: false)
        #expect(text.body == "5 achievements were saved\nA, B, C and 2 more")
    }
}

@Suite("Scores as text")
struct ScoreTextTests {
    @Test(
        arguments: [
            (0, 0, ScoreFormat.number, "0"), (999, 0, .number, "999"), (1_000, 0, .number, "1,000"),
            (-1_234_567, 0, .number, "-1,234,567"), (1_234_550, 2, .number, "12,345.50"), (-5, 2, .number, "-0.05"),
            (12_345, 0, .milliseconds, "12.345 s"), (62_345, 0, .milliseconds, "1:02.345"),
            (3_723_456, 0, .milliseconds, "1:02:03.456"), (7, 0, .milliseconds, "0.007 s"),
            (59, 0, .seconds, "59 s"), (61, 0, .seconds, "1:01"), (6_105, 2, .seconds, "1:01.05"),
            (-62_345, 0, .milliseconds, "-1:02.345"),
        ])
    func valuesAreFormatted(units: Int64, decimals: Int, format: ScoreFormat, expected: String) {
        #expect(ScoreText.text(ScoreValue(units: units, decimals: decimals), format: format) == expected)
    }

    @Test func theSmallestNumberIsNoTrap() {
        #expect(ScoreText.text(ScoreValue(units: .min), format: .number) == "-9,223,372,036,854,775,808")
        #expect(ScoreText.text(ScoreValue(units: .min), format: .milliseconds).hasPrefix("-2562047788015:12:55"))
    }
}
