import KleosModel
import Testing

@Suite("Which notices are told")
struct NoticeSettingsTests {
    private let achievement = NoticeFacts(kind: .achievement, item: "a")

    private func score(rank: Int64?) -> NoticeFacts { NoticeFacts(kind: .score, item: "s", rank: rank) }

    @Test func everythingIsToldByDefault() {
        #expect(NoticeSettings().silence(achievement) == nil)
        #expect(NoticeSettings().silence(score(rank: nil)) == nil)
    }

    @Test func noneIsSilent() {
        #expect(NoticeSettings(audience: .none).silence(achievement) == "Notices=none")
    }

    @Test func kindsCount() {
        let settings = NoticeSettings(kinds: [.achievement])
        #expect(settings.silence(achievement) == nil)
        #expect(settings.silence(score(rank: 1)) == "score notices are off")
    }

    @Test func theMinimumRankIsForRankedScoresOnly() {
        let settings = NoticeSettings(minimumRank: 10)
        #expect(settings.silence(score(rank: 10)) == nil)
        #expect(settings.silence(score(rank: 11)) == "rank 11 is worse than 10")
        #expect(settings.silence(score(rank: nil)) == nil)
        #expect(settings.silence(achievement) == nil)
    }
}
