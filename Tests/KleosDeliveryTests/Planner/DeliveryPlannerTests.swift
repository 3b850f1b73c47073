import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

struct DeliveryPlannerTests {
    private let planner = PlannerHarness()

    /// Makes the endpoint failing, with nothing in flight and no claim open.
    private func makeFailing(_ planner: PlannerHarness) {
        planner.settleClaims(1)
        planner.finished(failure(.refused))
        #expect(planner.condition.kind == .failing)
        #expect(planner.claim == nil)
    }

    @Test func claimsStayWithinTheBudgetOfRequestsInFlight() throws {
        let first = try #require(planner.claim)
        #expect(first.limit == 4)
        planner.ready()
        #expect(planner.claim == nil, "a claim is under way")
        planner.claimed(3, of: first)
        #expect(planner.claim?.limit == 1, "what became ready during a claim is not forgotten")
        planner.settleClaims(1)
        planner.ready()
        #expect(planner.claim == nil)
        #expect(planner.wait == nil)
        planner.finished(answer(200, accepted))
        #expect(planner.claim?.limit == 1)
        #expect(planner.condition.inFlight == 3)
    }

    @Test func afterAnEmptyClaimOnlyADueTimeOrAnEventWakes() throws {
        planner.settleClaims()
        #expect(planner.wait == nil)
        planner.ready()
        planner.claimed(0, of: try #require(planner.claim), nextDueIn: 5_000)
        #expect(planner.wait == 5_000)
        planner.fire()
        #expect(planner.claim == nil)
        planner.clock.advance(milliseconds: 5_000)
        planner.fire()
        #expect(planner.claim != nil)
    }

    @Test func aClaimThatFailsIsMadeAgainFurtherAndFurtherApart() throws {
        for wait: Int64 in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
            planner.claimFailed(try #require(planner.claim))
            #expect(planner.wait == wait)
            planner.clock.advance(milliseconds: wait)
            planner.fire()
        }
        planner.claimed(0, of: try #require(planner.claim), nextDueIn: 0)
        planner.claimFailed(try #require(planner.claim))
        #expect(planner.wait == 1_000)
    }

    @Test func whileFailingOneProbeAtATimeGoesOut() throws {
        makeFailing(planner)
        planner.ready()
        #expect(planner.claim == nil)
        for _ in 0..<10 {
            let wait = try #require(planner.wait)
            #expect(wait > 0)
            planner.clock.advance(milliseconds: wait)
            planner.fire()
            let probe = try #require(planner.claim)
            #expect(probe.limit == 1)
            planner.claimed(1, of: probe)
            planner.ready()
            #expect(planner.claim == nil)
            #expect(planner.wait == nil)
            #expect(planner.finished(failure(.timeout)).isRetry)
        }
        planner.clock.advance(milliseconds: try #require(planner.wait))
        planner.fire()
        planner.claimed(1, of: try #require(planner.claim))
        planner.finished(answer(200, accepted))
        #expect(planner.condition.kind == .up)
        #expect(planner.bringsForward)
        #expect(planner.claim?.limit == 4)
    }

    @Test func fiveRefusalsOnDifferentStreamsPauseAnEndpointThatConfirmedNothing() throws {
        planner.settleClaims(4)
        for item in ["a", "b", "c", "d"] { #expect(planner.finished(answer(404), item: item).isRetry) }
        planner.settleClaims(1)
        #expect(planner.finished(answer(404), item: "e").isRetry)
        #expect(planner.condition.kind == .paused)
        #expect(planner.condition.reason?.hasPrefix("rejecting") == true)
        planner.ready()
        planner.flush()
        #expect(planner.claim == nil)
        #expect(planner.wait == nil)
        planner.resume()
        #expect(planner.claim != nil)
        #expect(planner.bringsForward)
    }

    @Test func anEndpointThatConfirmedSomethingMayRefuseForGood() {
        let planner = PlannerHarness(isConfirmed: true)
        planner.settleClaims(1)
        #expect(planner.finished(answer(404)).isDead)
        #expect(planner.condition.kind == .up)
    }

    @Test func whatWasSentWithOldSettingsProvesNothingAboutNewOnes() {
        let old = planner.endpoint
        planner.settleClaims(3)
        var changed = old
        changed.url = "https://wrong.example"
        planner.configure(changed)
        planner.settleClaims()
        planner.finished(answer(200, accepted), sentTo: old)
        planner.settleClaims(1)
        #expect(planner.finished(answer(404)).isRetry)
        planner.finished(answer(401), sentTo: old)
        planner.finished(failure(.refused), sentTo: old)
        #expect(planner.condition.kind == .up)
        #expect(planner.condition.inFlight == 0)
    }

    @Test func anEndpointThatLeavesAndComesBackGoesOn() throws {
        planner.settleClaims(4)
        planner.remove()
        planner.configure(planner.endpoint)
        planner.settleClaims()
        for _ in 0..<4 { planner.finished(failure(.refused)) }
        #expect(planner.condition.inFlight == 0)
        planner.clock.advance(milliseconds: 3_600_000)
        planner.ready()
        #expect(planner.claim?.limit == 1)
    }

    @Test func aCredentialsAnswerPausesUntilTheTokenChanges() {
        planner.settleClaims(2)
        #expect(planner.finished(answer(401)).isRetry)
        #expect(planner.condition.kind == .paused)
        #expect(planner.finished(answer(200, accepted)) == .delivered(Confirmation(), notice: nil))
        #expect(planner.condition.kind == .paused)
        var changed = planner.endpoint
        changed.token = Secret("new")
        planner.configure(changed)
        #expect(planner.condition.kind == .up)
        #expect(planner.claim != nil)
    }

    @Test func aPauseHoldsEverythingUntilResumed() {
        planner.settleClaims()
        planner.pause()
        #expect(planner.condition.reason == "by hand")
        planner.ready()
        planner.fire()
        planner.network()
        planner.flush()
        #expect(planner.claim == nil)
        #expect(planner.wait == nil)
        planner.resume()
        #expect(planner.claim != nil)
    }

    @Test func aRefusalByAnOldAddressIsNotFinalWhateverTheNewOneConfirmed() {
        let old = planner.endpoint
        planner.settleClaims(2)
        var changed = old
        changed.url = "https://new.example"
        planner.configure(changed)
        planner.settleClaims(2)
        planner.finished(answer(200, accepted))
        #expect(planner.finished(answer(404), sentTo: old).isRetry)
        #expect(planner.finished(answer(404)).isDead)
    }

    @Test func aProbeDoesNotUndercutAThrottle() throws {
        planner.settleClaims(2)
        planner.finished(answer(429, retryAfter: "3600"))
        planner.finished(failure(.refused))
        #expect(planner.condition.kind == .failing)
        let until = try #require(planner.condition.throttledUntilMilliseconds)
        for input in [planner.network, planner.resumeFromSuspend, planner.ready, planner.flush, planner.fire] {
            planner.clock.advance(milliseconds: 60_000)
            input()
            #expect(planner.claim == nil)
        }
        planner.clock.advance(milliseconds: until - planner.now.wallMilliseconds)
        planner.fire()
        #expect(planner.claim?.limit == 1)
    }

    @Test func aThrottleOfTheEndpointIsNotUndercut() throws {
        planner.settleClaims(1)
        planner.finished(answer(429, retryAfter: "60"))
        let until = try #require(planner.condition.throttledUntilMilliseconds)
        #expect((60_000...66_000).contains(until - planner.now.wallMilliseconds))
        planner.flush()
        planner.network()
        planner.resumeFromSuspend()
        planner.ready()
        #expect(planner.claim == nil)
        let wait = try #require(planner.wait)
        #expect(wait == until - planner.now.wallMilliseconds)
        planner.clock.advance(milliseconds: wait)
        planner.fire()
        #expect(planner.claim != nil)
    }

    @Test func withoutAWishRestsGrow() throws {
        var longest: Int64 = 0
        for _ in 0..<12 {
            planner.ready()
            planner.settleClaims(1)
            planner.finished(answer(429))
            planner.ready()
            let wait = try #require(planner.wait)
            longest = max(longest, wait)
            planner.clock.advance(milliseconds: wait)
        }
        #expect(longest > 60_000)
    }

    @Test(arguments: [ThrottleScope.player, .board])
    func aThrottleOfAPlayerOrBoardLeavesTheOthersAloneAndEndsByItself(_ scope: ThrottleScope) throws {
        let planner = PlannerHarness(Endpoint(name: "home", url: "https://x.example", throttleScope: scope))
        planner.settleClaims(1)
        planner.finished(answer(429, retryAfter: "60"), item: "b", player: "p")
        planner.ready()
        let claim = try #require(planner.claim)
        #expect(claim.excludingPlayers == (scope == .player ? ["p"] : []))
        #expect(claim.excludingBoards == (scope == .board ? [BoardKey(game: "g", kind: .score, item: "b")] : []))
        planner.claimed(0, of: claim)
        let wait = try #require(planner.wait)
        #expect(wait >= 60_000)
        #expect(
            planner.condition.partialThrottles == [
                PartialThrottle(
                    scope: scope, name: scope == .player ? "p" : "b", game: scope == .player ? nil : "g",
                    untilMilliseconds: planner.now.wallMilliseconds + wait)
            ])
        #expect(planner.condition.throttledUntilMilliseconds == nil)
        planner.clock.advance(milliseconds: wait)
        planner.fire()
        let later = try #require(planner.claim)
        #expect(later.excludingPlayers.isEmpty && later.excludingBoards.isEmpty)
        planner.claimed(0, of: later)
        #expect(planner.wait == nil)
        #expect(planner.condition.partialThrottles.isEmpty)
    }

    @Test func aThrottleThatEndsDuringAClaimIsNotForgotten() throws {
        let planner = PlannerHarness(Endpoint(name: "home", url: "https://x.example", throttleScope: .player))
        planner.settleClaims(1)
        planner.finished(answer(429, retryAfter: "1"))
        planner.ready()
        let claim = try #require(planner.claim)
        planner.clock.advance(milliseconds: 10_000)
        planner.claimed(0, of: claim)
        #expect(planner.claim != nil)
    }

    @Test func aChangeOfNetworkBringsTheProbeForward() throws {
        makeFailing(planner)
        for _ in 0..<20 {
            planner.clock.advance(milliseconds: planner.wait ?? 0)
            planner.ready()
            planner.settleClaims(1)
            planner.finished(failure(.unreachable))
        }
        planner.network()
        #expect(planner.actions.first == .dropConnections)
        #expect(planner.bringsForward)
        planner.ready()
        #expect(try #require(planner.wait) <= 2_000)
    }

    @Test func aClockThatGoesBackBringsEverythingForwardWhoeverNoticesFirst() {
        planner.settleClaims()
        planner.clock.step(milliseconds: -86_400_000)
        planner.fire()
        planner.clockChanged()
        #expect(planner.bringsForward)
        planner.settleClaims()
        planner.clockChanged()
        #expect(!planner.bringsForward)
        planner.clock.step(milliseconds: 86_400_000)
        planner.clockChanged()
        #expect(!planner.bringsForward)
    }

    @Test func aBudgetOfRequestsAMinuteSpreadsThem() throws {
        let planner = PlannerHarness(
            Endpoint(name: "home", url: "https://x.example", maximumInFlight: 2, requestsPerMinute: 60))
        var sent = 0
        let end = planner.now.bootMilliseconds + 60_000
        while planner.now.bootMilliseconds < end {
            planner.ready()
            while let claim = planner.openClaim {
                sent += claim.limit
                planner.claimed(claim.limit, of: claim)
                for _ in 0..<claim.limit { planner.finished(answer(200, accepted)) }
            }
            let wait = try #require(planner.wait)
            #expect(wait > 0)
            planner.clock.advance(milliseconds: wait)
        }
        #expect((59...63).contains(sent))
    }

    /// The timer is set anew with each event; what is left of a wait counts then, not the whole of it.
    @Test func whatHappensElsewhereDoesNotPutOffABudgetsNextRequest() throws {
        let clock = ManualClock()
        var planner = DeliveryPlanner(random: SeededGenerator(seed: 1))
        let slow = Endpoint(name: "slow", url: "https://a.example", maximumInFlight: 1, requestsPerMinute: 1)
        let busy = Endpoint(name: "busy", url: "https://b.example", maximumInFlight: 1)
        var actions = planner.configure([slow, busy], memories: [:], now: clock.read())
        for action in actions {
            guard case .claim(let claiming) = action else { continue }
            actions = planner.claimed(claiming, count: 1, nextDueMilliseconds: nil, now: clock.read())
        }
        _ = planner.ready(["slow"], now: clock.read())
        _ = planner.finished(
            OutcomeRules.judge(answer(200, accepted), hadUnansweredAttempt: false, nowMilliseconds: 0),
            stream: stream("b", endpoint: "slow"), sentTo: slow,
            delivery: SettlementRules.DeliveryFacts(backoffAttempts: 0, serverErrors: 0, lastTriedMilliseconds: 0),
            notice: nil, now: clock.read())
        let whole = try #require(planner.millisecondsUntilWake(now: clock.read()))
        #expect((59_000...60_000).contains(whole))
        for _ in 0..<59 {
            clock.advance(milliseconds: 1_000)
            _ = planner.ready(["busy"], now: clock.read())
        }
        #expect(planner.millisecondsUntilWake(now: clock.read()) == whole - 59_000)
    }

    @Test func afterStopNothingIsClaimed() {
        planner.settleClaims()
        planner.stop()
        planner.ready()
        planner.flush()
        #expect(planner.claim == nil)
        #expect(planner.wait == nil)
    }
}
