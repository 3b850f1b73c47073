import KleosDelivery
import KleosModel
import KleosPractice
import KleosStore
import KleosSupport
import Testing

@Suite(.timeLimit(.minutes(30))) struct LiveDeliveryTests {
    @Test func whatWaitedWhileTheEndpointWasDownIsDeliveredOnce() throws {
        let server = try PracticeServer()
        server.setFaults(.down(.refuse))
        let delivery = try LiveDelivery(quick(server.url))
        let keys = try (0..<60).map { try delivery.submit(Int64($0), player: "p\($0)") }
        #expect(delivery.wait { $0.conditions.last?.kind == .failing })
        #expect(server.waitForRequests(count: 70), "probes go on")
        #expect(server.keyCount == 0)
        server.setFaults(Faults())
        #expect(delivery.wait { $0.count(.delivered) == 60 }, "\(delivery.leftovers())")
        #expect(keys.allSatisfy { server.effectCount(ofKey: $0.description) == 1 })
        #expect(delivery.wait { $0.notices.count == 60 })
        #expect(delivery.seen.value.conditions.map(\.kind) == [.failing, .up])
        #expect(delivery.logLines.value.count { $0.contains("is failing") } == 1, "logged once, not with each probe")
        delivery.stop()
    }

    @Test func anUnreliableEndpointGetsEachOnceWithTheSameBytes() throws {
        let server = try PracticeServer()
        var faults = Faults()
        faults.failureShare = 0.3
        faults.dropAnswer = 0.15
        faults.html = 0.1
        faults.seed = 5
        server.setFaults(faults)
        let delivery = try LiveDelivery(quick(server.url))
        let keys = try (0..<150).map { try delivery.submit(Int64($0), player: "p\($0 % 12)") }
        #expect(delivery.wait { $0.count(.delivered) == 150 }, "\(delivery.leftovers())")
        #expect(keys.allSatisfy { server.effectCount(ofKey: $0.description) == 1 })
        let bodies = Dictionary(grouping: server.requests) { $0.key }.mapValues { Set($0.map(\.request.body)) }
        #expect(bodies.count == 150 && bodies.values.allSatisfy { $0.count == 1 })
        #expect(server.requestCount > 180, "there was something to repeat")
        delivery.stop()
    }

    @Test func aLostAnswerCostsNobodyTheNotice() throws {
        let server = try PracticeServer()
        server.setFaults(.script([.drop]))
        let delivery = try LiveDelivery(quick(server.url))
        let key = try delivery.submit(1, player: "ada")
        #expect(delivery.wait { $0.count(.delivered) == 1 && $0.notices.count == 1 }, "\(delivery.leftovers())")
        #expect(server.requests.map(\.isReplay) == [false, true])
        #expect(server.effectCount(ofKey: key.description) == 1)
        delivery.stop()
    }

    @Test func oneRejectedAmongAHundredDelaysNone() throws {
        let server = try PracticeServer()
        var rule = RejectRule()
        rule.player = "eve"
        rule.code = "implausible"
        var faults = Faults()
        faults.rejectWhere = [rule]
        server.setFaults(faults)
        let delivery = try LiveDelivery(quick(server.url))
        let rejected = try delivery.submit(1, player: "eve")
        for index in 0..<99 { try delivery.submit(Int64(index), player: "p\(index % 9)") }
        #expect(delivery.wait { $0.count(.delivered) == 99 && $0.count(.dead) == 1 }, "\(delivery.leftovers())")
        #expect(server.requestCount == 100, "nothing was sent twice")
        let record = try #require(try delivery.delivery(rejected))
        #expect(record.record.reason == .rejected)
        #expect(record.record.message?.contains("implausible") == true)
        #expect(record.attempts.map(\.status) == [422])
        #expect(delivery.seen.value.conditions.isEmpty, "the endpoint was up all the time")
        delivery.stop()
    }

    @Test func anEndpointThatIsDownHoldsUpNoOther() throws {
        let (up, down) = (try PracticeServer(), try PracticeServer())
        down.setFaults(.down(.refuse))
        let delivery = try LiveDelivery(quick(up.url), quick(down.url, name: "far"))
        for index in 0..<100 { try delivery.submit(Int64(index), player: "p\(index % 10)", to: ["home", "far"]) }
        #expect(
            delivery.wait { $0.count(.delivered) == 100 && $0.conditions.contains { $0.name == "far" } },
            "\(delivery.leftovers())")
        #expect(up.requestCount == 100)
        #expect(delivery.seen.value.count(.delivered, endpoint: "far") == 0)
        down.setFaults(Faults())
        #expect(delivery.wait { $0.count(.delivered, endpoint: "far") == 100 }, "\(delivery.leftovers())")
        #expect(down.keyCount == 100)
        delivery.stop()
    }

    @Test func aWrongAddressBuriesNothing() throws {
        let server = try PracticeServer()
        let delivery = try LiveDelivery(quick("\(server.url)/wrong"))
        for index in 0..<20 { try delivery.submit(Int64(index), player: "p\(index)") }
        #expect(delivery.wait { $0.conditions.last?.kind == .paused })
        #expect(delivery.seen.value.conditions.last?.reason?.contains("rejecting") == true)
        #expect(delivery.seen.value.count(.dead) == 0)
        delivery.configure([quick(server.url)])
        #expect(delivery.wait { $0.count(.delivered) == 20 }, "\(delivery.leftovers())")
        #expect(server.keyCount == 20)
        delivery.stop()
    }

    @Test func aBogusBestThatIsRejectedGivesTheTrueOneBack() throws {
        let server = try PracticeServer()
        var rule = RejectRule()
        rule.valueBelow = "100"
        var faults = Faults()
        faults.down = .refuse
        server.setFaults(faults)
        let delivery = try LiveDelivery(quick(server.url))
        let best = try delivery.submit(8_080, player: "ada", board: "beginner")
        let bogus = try delivery.submit(1, player: "ada", board: "beginner")
        #expect(delivery.wait { $0.conditions.last?.kind == .failing })
        faults.down = nil
        faults.rejectWhere = [rule]
        server.setFaults(faults)
        #expect(delivery.wait { $0.count(.delivered) == 1 && $0.count(.dead) == 1 }, "\(delivery.leftovers())")
        #expect(server.effectCount(ofKey: best.description) == 1)
        #expect(try delivery.delivery(bogus)?.record.reason == .rejected)
        delivery.stop()
    }

    @Test func whatWouldCountTwiceIsSentOnceAndShown() throws {
        let server = try PracticeServer()
        server.setFaults(.script([.drop, .status(502), .status(503), .reset]))
        let delivery = try LiveDelivery(
            quick(server.url) {
                $0.resend = .accumulates
                $0.maximumInFlight = 1
            })
        var keys: [EventKey] = []
        for index in 0..<4 { keys.append(try delivery.submit(Int64(index), player: "p\(index)")) }
        #expect(delivery.wait { $0.count(.dead) == 3 && $0.count(.delivered) == 1 }, "\(delivery.leftovers())")
        #expect(server.requestCount == 5, "only the 503 was repeated")
        for key in keys {
            let record = try #require(try delivery.delivery(key)).record
            #expect(record.state == .delivered || record.reason == .ambiguous)
            #expect(server.effectCount(ofKey: key.description) <= 1)
        }
        delivery.stop()
    }

    @Test func atLeastOnceIsTheOperatorsChoice() throws {
        let server = try PracticeServer()
        server.setFaults(.script([.drop]))
        let delivery = try LiveDelivery(
            quick(server.url) {
                $0.resend = .accumulates
                $0.isAtLeastOnce = true
            })
        try delivery.submit(1, player: "ada")
        #expect(delivery.wait { $0.count(.delivered) == 1 }, "\(delivery.leftovers())")
        #expect(server.requestCount == 2)
        delivery.stop()
    }

    @Test func refusedCredentialsPauseAndLoseNothing() throws {
        let server = try PracticeServer()
        var faults = Faults()
        faults.unauthorized = .everybody
        server.setFaults(faults)
        let delivery = try LiveDelivery(quick(server.url))
        for index in 0..<10 { try delivery.submit(Int64(index), player: "p\(index)") }
        #expect(delivery.wait { $0.conditions.last?.kind == .paused })
        #expect(delivery.seen.value.conditions.last?.reason?.contains("credentials") == true)
        server.setFaults(Faults())
        delivery.resume("home")
        #expect(delivery.wait { $0.count(.delivered) == 10 }, "\(delivery.leftovers())")
        #expect(delivery.seen.value.count(.dead) == 0)
        delivery.stop()
    }

    @Test func aWishForRestIsHonouredByEverybody() throws {
        let server = try PracticeServer()
        var faults = Faults.script([.status(429)])
        faults.retryAfter = "1"
        server.setFaults(faults)
        let delivery = try LiveDelivery(quick(server.url) { $0.maximumInFlight = 1 })
        for index in 0..<5 { try delivery.submit(Int64(index), player: "p\(index)") }
        delivery.worker.async { $0.flush(nil) }
        #expect(delivery.wait { $0.count(.delivered) == 5 }, "\(delivery.leftovers())")
        let times = server.requests.map(\.atMilliseconds)
        #expect(times.count == 6)
        #expect(times[1] - times[0] >= 1_000)
        delivery.stop()
    }

    @Test func anOperatorsPauseOutlivesTheDaemon() throws {
        let server = try PracticeServer()
        let first = try LiveDelivery(quick(server.url))
        first.pause("home")
        try first.submit(1, player: "ada")
        #expect(first.conditions().map(\.kind) == [.paused])
        first.stop()
        let second = try LiveDelivery(quick(server.url), folder: first.folder)
        #expect(second.conditions().first?.kind == .paused)
        #expect(second.conditions().first?.reason == "operator: maintenance")
        second.worker.async { $0.flush(nil) }
        second.worker.async { $0.networkChanged() }
        #expect(second.conditions().first?.kind == .paused)
        #expect(server.requestCount == 0)
        second.resume("home")
        #expect(second.wait { $0.count(.delivered) == 1 }, "\(second.leftovers())")
        second.stop()
    }

    @Test func whatIsInFlightAtTheEndIsInterruptedAndSentAgain() throws {
        let server = try PracticeServer()
        var faults = Faults()
        faults.neverAnswer = 1
        server.setFaults(faults)
        let first = try LiveDelivery(quick(server.url))
        let key = try first.submit(1, player: "ada")
        #expect(server.waitForRequests(count: 1))
        first.stop()
        server.setFaults(Faults())
        let second = try LiveDelivery(quick(server.url), folder: first.folder)
        #expect(second.wait { $0.count(.delivered) == 1 }, "\(second.leftovers())")
        #expect(try second.delivery(key)?.attempts.map(\.outcome) == [.interrupted, .delivered])
        second.stop()
    }

    @Test func tooOldIsNotSentUnlessAnOperatorSaysSo() throws {
        let server = try PracticeServer()
        let delivery = try LiveDelivery(quick(server.url) { $0.maximumAgeMilliseconds = 60_000 })
        let old = try delivery.submit(1, player: "ada", ageMilliseconds: 61_000)
        try delivery.submit(2, player: "ada", ageMilliseconds: 30_000)
        #expect(delivery.wait { $0.count(.dead) == 1 && $0.count(.delivered) == 1 }, "\(delivery.leftovers())")
        #expect(try delivery.delivery(old)?.record.reason == .expired)
        #expect(server.requestCount == 1)
        let now = delivery.clock.read()
        _ = try delivery.run { outbox throws(StoreError) in try outbox.retry(.keys([old]), now: now) }
        #expect(delivery.wait { $0.count(.delivered) == 2 }, "\(delivery.leftovers())")
        delivery.stop()
    }

    @Test func aBoardThatLeftTheCatalogEndsOnlyItsOwn() throws {
        let server = try PracticeServer()
        let delivery = try LiveDelivery(quick(server.url))
        let gone = try delivery.submit(1, player: "ada", board: "gone")
        try delivery.submit(2, player: "ada")
        #expect(delivery.wait { $0.count(.dead) == 1 && $0.count(.delivered) == 1 }, "\(delivery.leftovers())")
        #expect(try delivery.delivery(gone)?.record.reason == .unrenderable)
        delivery.stop()
    }

    @Test func aTokenIsSentAndShownNowhere() throws {
        let server = try RawServer(
            .answer(.http("500 hunter2", body: #"{"error":{"code":"hunter2","message":"Bearer hunter2"}}"#)),
            .answer(.http("200 OK", body: #"{"accepted":true,"echo":"hunter2"}"#)))
        let delivery = try LiveDelivery(quick(server.url) { $0.token = Secret("hunter2") })
        let key = try delivery.submit(1, player: "ada")
        #expect(delivery.wait { $0.count(.delivered) == 1 }, "\(delivery.leftovers())")
        #expect(server.requests.allSatisfy { $0.contains("Authorization: Bearer hunter2\r\n") })
        let record = try #require(try delivery.delivery(key))
        #expect(record.attempts.count == 2)
        #expect(!"\(record)".contains("hunter2"))
        #expect(!"\(delivery.conditions())".contains("hunter2"))
        #expect(!delivery.logLines.value.contains { $0.contains("hunter2") })
        delivery.stop()
    }

    @Test func neverMoreInFlightThanAllowedNorTwoOfOneStream() throws {
        let transport = HeldTransport()
        let delivery = try LiveDelivery(quick("http://127.0.0.1:1") { $0.maximumInFlight = 3 }, transport: transport)
        for index in 0..<30 { try delivery.submit(Int64(index), player: "p\(index % 6)") }
        for _ in 0..<30 {
            #expect(transport.waitForOne())
            transport.answerOne()
        }
        #expect(delivery.wait { $0.count(.delivered) == 30 }, "\(delivery.leftovers())")
        let report = transport.report
        #expect(report.mostAtOnce == 3)
        #expect(report.mostOfOneStream == 1)
        delivery.stop()
    }
}
