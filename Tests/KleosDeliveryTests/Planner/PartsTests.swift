import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosDelivery

/// A budget behind a reference, so that an expectation may call what changes it.
private final class Bucket {
    private var budget: RequestBudget

    init(perMinute: Int, burst: Int) { budget = RequestBudget(perMinute: perMinute, burst: burst) }

    func millisecondsUntilNext(now: ClockReading) -> Int64 { budget.millisecondsUntilNext(now: now) }
    func available(now: ClockReading) -> Int { budget.available(now: now) }
    func take(_ count: Int) { budget.take(count) }
    func giveBack(_ count: Int) { budget.giveBack(count) }
}

struct RequestBudgetTests {
    private let clock = ManualClock()

    @Test func theBucketRefillsAtItsRateAndNeverBeyondItsBurst() {
        let budget = Bucket(perMinute: 60, burst: 3)
        #expect(budget.available(now: clock.read()) == 3)
        budget.take(3)
        #expect(budget.available(now: clock.read()) == 0)
        #expect(budget.millisecondsUntilNext(now: clock.read()) == 1_000)
        clock.advance(milliseconds: 999)
        #expect(budget.millisecondsUntilNext(now: clock.read()) == 1, "also where nobody looked meanwhile")
        #expect(budget.available(now: clock.read()) == 0)
        #expect(budget.millisecondsUntilNext(now: clock.read()) == 1)
        clock.advance(milliseconds: 1)
        #expect(budget.available(now: clock.read()) == 1)
        clock.advance(milliseconds: .max / 4)
        #expect(budget.available(now: clock.read()) == 3)
        budget.take(2)
        budget.giveBack(5)
        #expect(budget.available(now: clock.read()) == 3)
    }

    @Test(arguments: [1, 7, 59, 61, 100_000])
    func waitingAsLongAsSaidIsAlwaysEnough(_ perMinute: Int) {
        let budget = Bucket(perMinute: perMinute, burst: 1)
        for _ in 0..<20 {
            #expect(budget.available(now: clock.read()) == 1)
            budget.take(1)
            _ = budget.available(now: clock.read())
            clock.advance(milliseconds: budget.millisecondsUntilNext(now: clock.read()))
        }
    }
}

struct ThrottlesTests {
    private let clock = ManualClock()

    @Test func aThrottleReachesAsFarAsItsScope() {
        var throttles = Throttles()
        throttles.add(milliseconds: 100, scope: .player, stream: stream("b", player: "x"), now: clock.read())
        throttles.add(milliseconds: 200, scope: .board, stream: stream("c", player: "y"), now: clock.read())
        #expect(throttles.excludedPlayers(now: clock.read()) == ["x"])
        #expect(throttles.excludedBoards(now: clock.read()) == [BoardKey(game: "g", kind: .score, item: "c")])
        #expect(throttles.endpointUntilBootMilliseconds == 0)
        #expect(throttles.nextEndBootMilliseconds == clock.read().bootMilliseconds + 100)
        var isAnyOver = throttles.prune(now: clock.read())
        #expect(!isAnyOver)
        clock.advance(milliseconds: 100)
        #expect(throttles.excludedPlayers(now: clock.read()).isEmpty)
        isAnyOver = throttles.prune(now: clock.read())
        #expect(isAnyOver)
        #expect(throttles.nextEndBootMilliseconds == clock.read().bootMilliseconds + 100)
    }

    @Test func aShorterThrottleDoesNotUndercutALongerOne() {
        var throttles = Throttles()
        let start = clock.read().bootMilliseconds
        throttles.add(milliseconds: 500, scope: .endpoint, stream: stream("b"), now: clock.read())
        throttles.add(milliseconds: 100, scope: .endpoint, stream: stream("b"), now: clock.read())
        #expect(throttles.endpointUntilBootMilliseconds == start + 500)
    }

    @Test func whoeverWaitsLongestIsToldFirst() {
        var throttles = Throttles()
        let end = clock.read().wallMilliseconds
        throttles.add(milliseconds: 100, scope: .player, stream: stream("b", player: "x"), now: clock.read())
        throttles.add(milliseconds: 300, scope: .player, stream: stream("b", player: "z"), now: clock.read())
        throttles.add(milliseconds: 300, scope: .player, stream: stream("b", player: "y"), now: clock.read())
        throttles.add(milliseconds: 200, scope: .board, stream: stream("c"), now: clock.read())
        clock.advance(milliseconds: 100)
        let expected: [(ThrottleScope, String, Int64)] = [(.player, "y", 300), (.player, "z", 300), (.board, "c", 200)]
        #expect(
            throttles.partial(now: clock.read())
                == expected.map {
                    PartialThrottle(
                        scope: $0, name: $1, game: $0 == .board ? "g" : nil, untilMilliseconds: end + $2)
                })
    }

    @Test func tooManyEntriesBecomeOneForTheEndpoint() {
        var throttles = Throttles()
        for number in 0...Throttles.maximumEntries {
            throttles.add(
                milliseconds: 100, scope: .player, stream: stream("b", player: "\(number)"), now: clock.read())
        }
        #expect(throttles.excludedPlayers(now: clock.read()).count == Throttles.maximumEntries)
        #expect(throttles.endpointUntilBootMilliseconds > clock.read().bootMilliseconds)
    }
}

/// An endpoint's health behind a reference, so that an expectation may call what changes it.
private final class Patient {
    let clock = ManualClock()
    private(set) var health = EndpointHealth(lastSuccessMilliseconds: nil)
    private var random = SeededGenerator(seed: 3)

    func serverError(_ item: String) -> Bool {
        health.serverError("500", stream: stream(item), policy: RetryPolicy(), now: clock.read(), random: &random)
    }

    func failed() -> Bool {
        health.failed("x", cause: .refused, policy: RetryPolicy(), now: clock.read(), random: &random)
    }
    func succeeded() -> Bool { health.succeeded(isConfirmation: true, now: clock.read()) }
    func refused(_ item: String) -> Bool { health.refused("404", stream: stream(item)) }
    func probeBegan() { health.probeBegan() }
    func probeSoon() { health.probeSoon(withinMilliseconds: 2_000, now: clock.read(), random: &random) }
    var probeWait: Int64 { health.nextProbeBootMilliseconds - clock.read().bootMilliseconds }
}

struct EndpointHealthTests {
    private let patient = Patient()

    @Test func serverErrorsNeedThreeStreamsWithNoSuccessBetween() {
        for _ in 0..<10 { #expect(!patient.serverError("a")) }
        #expect(!patient.serverError("b"))
        #expect(!patient.succeeded())
        #expect(!patient.serverError("b"))
        #expect(!patient.serverError("c"))
        #expect(patient.serverError("d"))
        #expect(patient.health.failure?.reason == "500")
        #expect(patient.succeeded())
        #expect(patient.health.failure == nil)
    }

    @Test func probesGoFurtherApartAndLateAnswersDoNotMoveThem() {
        let policy = RetryPolicy()
        #expect(patient.failed())
        let first = patient.probeWait
        for _ in 0..<8 { #expect(!patient.failed()) }
        #expect(patient.probeWait == first)
        var longest: Int64 = 0
        for _ in 0..<40 {
            patient.probeBegan()
            #expect(!patient.failed())
            #expect((policy.floorMilliseconds...policy.capMilliseconds).contains(patient.probeWait))
            longest = max(longest, patient.probeWait)
        }
        #expect(longest > 600_000)
        patient.probeSoon()
        #expect(patient.probeWait <= 2_000)
    }

    @Test func refusalsCountByStream() {
        for _ in 0..<10 { #expect(!patient.refused("a")) }
        for item in ["b", "c", "d"] { #expect(!patient.refused(item)) }
        #expect(patient.refused("e"))
    }
}

struct ConnectionFreshnessTests {
    @Test func connectionsFromBeforeADropAreNotUsed() {
        var freshness = ConnectionFreshness()
        #expect(!freshness.isStale(origin: "a", seenAfter: freshness.dropCount))
        let before = freshness.dropCount
        freshness.drop(origin: "a", atMilliseconds: 10_000)
        #expect(freshness.isStale(origin: "a", seenAfter: before) && !freshness.isStale(origin: "b", seenAfter: before))
        let between = freshness.dropCount
        #expect(!freshness.isStale(origin: "a", seenAfter: between))
        freshness.drop(atMilliseconds: 20_000)
        #expect(
            freshness.isStale(origin: "a", seenAfter: between) && freshness.isStale(origin: "b", seenAfter: between))
        #expect(!freshness.isStale(origin: "a", seenAfter: freshness.dropCount))
    }

    @Test func addressesFromBeforeADropAreAskedForAgain() {
        var freshness = ConnectionFreshness()
        let seconds = { (origin: String, now: Int64) in
            freshness.maximumAddressSeconds(origin: origin, atMilliseconds: now)
        }
        #expect(seconds("a", 0) == 60)
        freshness.drop(origin: "a", atMilliseconds: 10_000)
        #expect(seconds("a", 9_000) == 0 && seconds("a", 11_999) == 0 && seconds("a", 15_500) == 4)
        #expect(seconds("a", 900_000) == 60 && seconds("b", 10_000) == 60)
        freshness.drop(atMilliseconds: 20_000)
        #expect(seconds("a", 20_000) == 0 && seconds("b", 20_000) == 0)
    }
}

struct SecureAddressTests {
    private func problem(_ url: String, allowsInsecure: Bool = false) -> String? {
        SecureAddress.problem(with: url, allowsInsecure: allowsInsecure)
    }

    @Test(arguments: [
        "https://x.example/", "HTTPS://X.example", "http://localhost:1/v1", "http://127.0.0.1/", "http://127.9.9.9:80",
        "http://[::1]:8080/v1/scores", "http://api.localhost/",
    ])
    func safeAddressesAreUsed(_ url: String) {
        #expect(problem(url) == nil)
    }

    @Test(arguments: [
        "http://x.example/", "http://127.0.0.1.evil.example/", "http://127.0.0.1@evil.example/",
        "http://localhost@evil.example/", "http://evil.example#@127.0.0.1/", "http://evil.example\\@127.0.0.1/",
        "http://localhost.evil.example/", "http://10.0.0.1/", "http://127.0.0.256/", "ftp://127.0.0.1/", "file:///etc",
        "", "localhost", "//localhost/",
    ])
    func otherAddressesAreRefused(_ url: String) {
        #expect(problem(url) != nil)
    }

    @Test func anOperatorMayAllowPlainHTTPButNoOtherProtocol() {
        #expect(problem("http://x.example/", allowsInsecure: true) == nil)
        #expect(problem("ftp://x.example/", allowsInsecure: true) != nil)
    }

    @Test func theOriginIsSchemeHostAndPort() {
        #expect(SecureAddress.origin(of: "https://x.example:8443/v1/scores") == "https://x.example:8443")
        #expect(SecureAddress.origin(of: "https://x.example") == "https://x.example")
    }
}

struct SleepMeterTests {
    @Test func onlySuspendedTimeCounts() {
        let clock = ManualClock()
        let meter = SleepMeter(clock.read())
        clock.advance(milliseconds: 3_600_000)
        #expect(!meter.hasSlept(clock.read(), toleranceMilliseconds: 1_000))
        clock.step(milliseconds: -86_400_000)
        #expect(!meter.hasSlept(clock.read(), toleranceMilliseconds: 1_000))
        clock.suspend(milliseconds: 2_000)
        #expect(meter.hasSlept(clock.read(), toleranceMilliseconds: 1_000))
        #expect(!meter.hasSlept(clock.read(), toleranceMilliseconds: 1_000))
    }
}
