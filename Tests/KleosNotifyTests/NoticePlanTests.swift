import KleosModel
import KleosNotify
import KleosWire
import Testing

@Suite("Which notices are shown together")
struct NoticePlanTests {
    private let game = Game(id: "g", title: LocalizedText("The Game"))
    private let now: Int64 = 1_000_000_000

    private func rows(_ numbers: ClosedRange<Int64>, age: Int64 = 0, game: Game? = nil) -> [NoticeRow] {
        numbers.map { NoticeServer.row($0, "a\($0)", game: game ?? self.game, created: now - age) }
    }

    @Test func aFewAreShownOneByOneInTheirOrder() {
        let shown = NoticePlan().presentations(of: rows(1...5).reversed(), nowMilliseconds: now)
        #expect(shown == rows(1...5).map(NoticePlan.Presentation.single))
    }

    @Test func moreThanFiveAreADigest() {
        #expect(
            NoticePlan().presentations(of: rows(1...6), nowMilliseconds: now) == [.digest(game: "g", rows(1...6))])
    }

    @Test func oldOnesAreADigestAndNewOnesAreNot() {
        let plan = NoticePlan(digestAfterMilliseconds: 3_600_000)
        let old = rows(1...2, age: 3_600_001)
        let recent = rows(3...4)
        #expect(
            plan.presentations(of: old + recent, nowMilliseconds: now)
                == [.digest(game: "g", old)] + recent.map(NoticePlan.Presentation.single))
        // Without the setting nothing is old.
        #expect(
            NoticePlan().presentations(of: old + recent, nowMilliseconds: now)
                == (old + recent).map(NoticePlan.Presentation.single))
    }

    @Test func oneOldNoticeNeedsNoDigest() {
        let old = rows(1...1, age: 86_400_000)
        let plan = NoticePlan(digestAfterMilliseconds: 3_600_000)
        #expect(plan.presentations(of: old, nowMilliseconds: now) == [.single(old[0])])
    }

    @Test func gamesAreApart() {
        let other = Game(id: "other")
        let all = rows(1...4) + rows(5...8, game: other)
        #expect(NoticePlan().presentations(of: all, nowMilliseconds: now).count == 8)
    }

    @Test func aBurstGoesIntoTheLastBubble() {
        var plan = BubblePlan(maximumBubbles: 2, burstMilliseconds: 10_000)
        let all = rows(1...4)
        for (index, row) in all.prefix(2).enumerated() {
            let bubble = plan.bubble(for: .single(row), nowMilliseconds: 0)
            #expect(bubble.replaces == nil)
            plan.didShow(bubble, as: UInt32(index + 1), nowMilliseconds: 0)
        }
        let third = plan.bubble(for: .single(all[2]), nowMilliseconds: 5_000)
        #expect(third.replaces == 2)
        #expect(third.notification.text.title == "The Game")
        #expect(third.notification.text.body == "2 achievements were saved\na2 and a3")
        plan.didShow(third, as: 2, nowMilliseconds: 5_000)
        // The first bubble is out of the window by now, so that there is room for a new one.
        let fourth = plan.bubble(for: .single(all[3]), nowMilliseconds: 10_000)
        #expect(fourth.replaces == nil)
        #expect(fourth.notification.text.title == "Achievement unlocked: a4")
    }

    @Test("S-43: markup is escaped for the desktops that read it, and only for them")
    func markupIsEscapedOnlyForServicesThatReadIt() {
        let text = NoticeText(title: "T", body: "a < b & c > d", gameTitle: "G")
        let notification = DesktopNotification(text: text, kind: .score)
        #expect(notification.body(capabilities: ["body", "body-markup"]) == "a &lt; b &amp; c &gt; d")
        #expect(notification.body(capabilities: ["body"]) == "a < b & c > d")
        #expect(notification.body(capabilities: []) == "")
        #expect(notification.title(capabilities: []) == "T – a < b & c > d")
        #expect(notification.title(capabilities: ["body"]) == "T")
    }

    @Test func delaysGrowToTheirMaximumAndStartAnew() {
        var delay = RetryDelay(firstMilliseconds: 500, maximumMilliseconds: 3_000)
        #expect((0..<5).map { _ in delay.next() } == [500, 1_000, 2_000, 3_000, 3_000])
        delay.reset()
        #expect(delay.next() == 500)
    }
}
