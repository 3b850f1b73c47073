import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosDelivery

struct SettlementRulesTests {
    private let now = ManualClock().read()

    private func settle(
        _ verdict: Verdict, attempts: Int = 0, serverErrors: Int = 0, lastTried: Int64 = 0, isConfirmed: Bool = true,
        lastSuccess: Int64? = nil, resend: ResendEffect = .keyed, isAtLeastOnce: Bool = false, seed: UInt64 = 1
    ) -> Settlement {
        var random = SeededGenerator(seed: seed)
        let endpoint = Endpoint(
            name: "home", url: "https://x.example", resend: resend, isAtLeastOnce: isAtLeastOnce,
            maximumServerErrors: 3)
        return SettlementRules.settlement(
            verdict,
            delivery: SettlementRules.DeliveryFacts(
                backoffAttempts: attempts, serverErrors: serverErrors,
                lastTriedMilliseconds: now.wallMilliseconds + lastTried),
            facts: SettlementRules.EndpointFacts(
                endpoint: endpoint, isConfirmed: isConfirmed,
                lastSuccessMilliseconds: lastSuccess.map { now.wallMilliseconds + $0 }),
            notice: nil, now: now, random: &random)
    }

    private func reason(_ settlement: Settlement) -> DeliveryReason? {
        if case .dead(let reason, _) = settlement { reason } else { nil }
    }

    private func delay(_ settlement: Settlement) -> Int64? {
        if case .retry(let due, _) = settlement { due - now.wallMilliseconds } else { nil }
    }

    @Test func confirmedAndAlreadyDoneAreDelivered() {
        for outcome in [Outcome.delivered, .alreadyDone] {
            let verdict = Verdict(outcome, confirmation: Confirmation(rank: 1), endpointEffect: .healthy)
            #expect(settle(verdict) == .delivered(Confirmation(rank: 1), notice: nil))
        }
    }

    @Test func anUnansweredAttemptIsAmbiguousOnlyWhereItWouldCountTwice() {
        let lost = Verdict(.retry, message: "x", endpointEffect: .failing, mayHaveTakenEffect: true)
        #expect(reason(settle(lost, resend: .accumulates)) == .ambiguous)
        #expect(delay(settle(lost, resend: .accumulates, isAtLeastOnce: true)) != nil)
        for resend in ResendEffect.allCases where resend != .accumulates {
            #expect(delay(settle(lost, resend: resend)) != nil)
        }
        let unsent = Verdict(.retry, message: "x", endpointEffect: .failing)
        #expect(delay(settle(unsent, resend: .accumulates)) != nil)
        let interrupted = Verdict(.interrupted, message: "x", endpointEffect: .none, mayHaveTakenEffect: true)
        #expect(reason(settle(interrupted, resend: .accumulates)) == .ambiguous)
        #expect(delay(settle(interrupted)) == 0)
    }

    @Test func anUnexplainedRefusalIsFinalOnlyFromAConfirmedEndpoint() {
        let unexplained = Verdict(.permanent, message: "404", endpointEffect: .rejecting)
        #expect(reason(settle(unexplained)) == .rejected)
        #expect(delay(settle(unexplained, isConfirmed: false)) != nil)
        let authentic = Verdict(.permanent, message: "422", endpointEffect: .healthy, isAuthentic: true)
        #expect(reason(settle(authentic, isConfirmed: false)) == .rejected)
    }

    @Test func serverErrorsEndADeliveryOnlyWhileOthersAreConfirmed() {
        let error = Verdict(.retry, message: "500", endpointEffect: .serverError)
        #expect(reason(settle(error, serverErrors: 2, lastTried: -100, lastSuccess: -50)) == .serverErrors)
        #expect(delay(settle(error, serverErrors: 1, lastTried: -100, lastSuccess: -50)) != nil)
        #expect(delay(settle(error, serverErrors: 2, lastTried: -100, lastSuccess: -150)) != nil)
        #expect(delay(settle(error, serverErrors: 50, lastTried: -100)) != nil)
        let failure = Verdict(.retry, message: "reset", endpointEffect: .failing)
        #expect(delay(settle(failure, serverErrors: 50, lastTried: -100, lastSuccess: -50)) != nil)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func delaysGrowAndHonourTheEndpointsWish(_ seed: UInt64) throws {
        let retry = Verdict(.retry, message: "x", endpointEffect: .failing)
        #expect((250...2_000).contains(try #require(delay(settle(retry, seed: seed)))))
        #expect((250...3_600_000).contains(try #require(delay(settle(retry, attempts: 1_000_000, seed: seed)))))
        let wish = Verdict(.throttled, message: "x", retryAfterMilliseconds: 60_000, endpointEffect: .none)
        #expect((60_000...66_000).contains(try #require(delay(settle(wish, seed: seed)))))
    }

    @Test func aCredentialsAnswerNeverEndsADelivery() {
        let verdict = Verdict(.credentials, message: "401", endpointEffect: .none)
        #expect(delay(settle(verdict, attempts: 1_000)) == 250)
    }
}
