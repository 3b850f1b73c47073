import KleosModel
import KleosSupport
import Testing

/// What of a confirmed event is worth telling the player.
@Suite struct NoticeRuleTests {
    private static let board = Subject.score(leaderboard: "runs", value: ScoreValue(units: 7))

    private static func draft(
        _ subject: Subject, _ confirmation: KleosModel.Confirmation, _ outcome: Outcome = .delivered,
        steps: Int64? = nil,
        mayBeOwnEcho: Bool = false
    ) -> NoticeDraft? {
        let event = Event(
            key: EventKey(high: 1, low: 2), clientID: nil, game: "demo", player: "ada", subject: subject,
            occurredAtMilliseconds: nil, metadata: nil,
            recorded: ClockReading(
                wallMilliseconds: 0, bootMilliseconds: 0, monotonicMilliseconds: 0, bootID: "b", isSynchronized: true),
            submitter: Submitter(uid: 1, pid: 1))
        return NoticeRule.draft(
            for: event, confirmation: confirmation, outcome: outcome,
            achievement: Achievement(id: "walker", steps: steps), mayBeOwnEcho: mayBeOwnEcho)
    }

    private static func news(
        _ subject: Subject, _ confirmation: KleosModel.Confirmation, _ outcome: Outcome, mayBeOwnEcho: Bool
    ) -> NoticeFacts? {
        guard case .news(let facts) = draft(subject, confirmation, outcome, mayBeOwnEcho: mayBeOwnEcho) else {
            return nil
        }
        return facts
    }

    @Test(arguments: [nil, true])
    func tellsAScoreThatCounted(changed: Bool?) {
        let draft = Self.draft(Self.board, KleosModel.Confirmation(rank: 3, changed: changed))
        let expected = NoticeFacts(
            kind: .score, item: "runs", value: ScoreValue(units: 7), rank: 3, changed: changed)
        #expect(draft == .news(expected))
    }

    @Test(
        arguments: [
            (false, .delivered), (false, .alreadyDone), (true, .alreadyDone), (nil, .alreadyDone),
        ] as [(Bool?, Outcome)])
    func tellsNothingThatWasThereBefore(changed: Bool?, outcome: Outcome) {
        let confirmation = KleosModel.Confirmation(rank: 3, changed: changed, unlocked: true)
        let unlock = Subject.achievement(id: "walker", change: .progress(100))
        #expect(Self.draft(Self.board, confirmation, outcome) == nil)
        // What else may have brought it there, the outbox knows.
        #expect(
            Self.draft(unlock, confirmation, outcome)
                == .known(NoticeFacts(kind: .achievement, item: "walker", changed: changed)))
        // An attempt of the same event may have put it there, unanswered.
        #expect(Self.news(Self.board, confirmation, outcome, mayBeOwnEcho: true)?.item == "runs")
        #expect(Self.news(unlock, confirmation, outcome, mayBeOwnEcho: true)?.item == "walker")
    }

    @Test(
        arguments: [
            (.progress(100), nil, nil, true), (.progress(99), nil, nil, false), (.steps(10), nil, 10, true),
            (.steps(11), nil, 10, true), (.steps(9), nil, 10, false), (.steps(10), nil, nil, false),
            (.increment(99), nil, 10, false),
            // The service's word counts more than the rule.
            (.progress(100), false, nil, false), (.progress(1), true, nil, true), (.increment(1), true, 10, true),
        ] as [(AchievementChange, Bool?, Int64?, Bool)])
    func tellsAnAchievementOnceItIsComplete(
        change: AchievementChange, unlocked: Bool?, steps: Int64?, isTold: Bool
    ) {
        let confirmation = KleosModel.Confirmation(unlocked: unlocked)
        let draft = Self.draft(.achievement(id: "walker", change: change), confirmation, steps: steps)
        #expect(draft == (isTold ? .news(NoticeFacts(kind: .achievement, item: "walker")) : nil))
    }
}
