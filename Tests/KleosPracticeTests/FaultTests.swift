import KleosJSON
import KleosPractice
import KleosSupport
import Testing

@Suite struct FaultTests {
    @Test func downClosesWithoutAnswerUntilTold() throws {
        let practice = try Practice(faults: #"{"down": true}"#)
        #expect(throws: PracticeClient.Failure.incompleteAnswer(bytes: 0)) { try practice.submit(score: "k1") }
        #expect(try practice.client.get("/healthz").status == 200)
        #expect(practice.server.keyCount == 0)
        practice.server.setFaults(Faults())
        #expect(try practice.submit(score: "k1").status == 200)
    }

    @Test func downCanAnswer503WithRetryAfterAsWritten() throws {
        let practice = try Practice(faults: #"{"down": "503", "retryAfter": "Wed, 21 Oct 2026 07:28:00 GMT"}"#)
        let answer = try practice.submit(score: "k1")
        #expect(answer.status == 503)
        #expect(answer.header("retry-after") == "Wed, 21 Oct 2026 07:28:00 GMT")
        #expect(practice.server.keyCount == 0)
    }

    @Test func aScriptIsUsedUpStepByStep() throws {
        let practice = try Practice(
            faults: #"{"script": [503, 429, 200, "html", "redirect", "close"], "retryAfter": 7}"#)
        #expect(try practice.submit(score: "k1").status == 503)
        let throttled = try practice.submit(score: "k1")
        #expect(throttled.status == 429)
        #expect(throttled.header("retry-after") == "7")
        #expect(try practice.submit(score: "k1").json?["accepted"] == true)
        #expect(try practice.submit(score: "k2").header("content-type") == "text/html; charset=utf-8")
        #expect(try practice.submit(score: "k2").status == 302)
        #expect(throws: PracticeClient.Failure.self) { try practice.submit(score: "k2") }
        #expect(try practice.submit(score: "k2").status == 200)
        #expect(practice.server.requests.map(\.status) == [503, 429, 200, 200, 302, nil, 200])
        #expect(practice.server.requests.map(\.tookEffect) == [false, false, true, false, false, false, true])
    }

    @Test func aStepHoldsForManyRequestsWithItsOwnWords() throws {
        let practice = try Practice(
            faults: #"{"script": [{"answer": 503, "times": 3, "retryAfter": "2"}, 429, 200], "retryAfter": 9}"#)
        var answers: [String] = []
        for _ in 0..<6 {
            let answer = try practice.submit(score: "k1")
            answers.append("\(answer.status) \(answer.header("retry-after") ?? "-")")
        }
        #expect(answers == ["503 2", "503 2", "503 2", "429 9", "200 -", "200 -"])
        #expect(practice.server.faults.json == (try json(#"{"retryAfter": "9"}"#)))
    }

    @Test func aStepHoldsForATime() throws {
        let practice = try Practice(faults: #"{"script": [{"answer": 500, "forMilliseconds": 50}, 404]}"#)
        let clock = SystemClock()
        let start = clock.read().wallMilliseconds
        var statuses: [Int] = []
        while statuses.last != 404 { statuses.append(try practice.submit(score: "k1").status) }
        #expect(clock.read().wallMilliseconds - start >= 50)
        #expect(statuses.dropLast().allSatisfy { $0 == 500 })
        #expect(try practice.submit(score: "k1").status == 200)
    }

    @Test(arguments: [
        (#"{"script": [{"times": 2}]}"#, "has no \"answer\""),
        (#"{"script": [{"answer": 503, "times": 0}]}"#, "\"times\" must be a whole number from 1 to 1000000"),
        (#"{"script": [{"answer": 503, "time": 2}]}"#, "has no member \"time\""),
        (#"{"script": [{"answer": 503, "times": 2, "forMilliseconds": 5}]}"#, "exclude each other"),
        (#"{"script": [{"answer": 299}]}"#, "not 299"),
    ])
    func saysWhatIsWrongWithAStep(text: String, complaint: String) throws {
        var faults = Faults()
        let error = #expect(throws: FaultsError.self) { try faults.merge(try json(text)) }
        #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
    }

    @Test func aSeedMakesTheShareOfFailuresRepeatable() throws {
        func statuses() throws -> [Int] {
            let practice = try Practice(faults: #"{"failureShare": 0.3, "seed": 7}"#)
            return try (0..<200).map { try practice.submit(score: "k\($0)").status }
        }
        let first = try statuses()
        #expect(try statuses() == first)
        let failed = first.count { $0 >= 500 }
        #expect((30...90).contains(failed), "\(failed) of 200 failed")
        #expect(Set(first) == [200, 500, 502, 503])
    }

    @Test func latencyHoldsTheAnswerBack() throws {
        let practice = try Practice(faults: #"{"latencyMilliseconds": {"min": 120, "max": 140}}"#)
        let clock = SystemClock()
        let start = clock.read().monotonicMilliseconds
        #expect(try practice.submit(score: "k1").status == 200)
        #expect(clock.read().monotonicMilliseconds - start >= 119)
        #expect(practice.server.requests.first?.fault == "latency")
    }

    @Test func aLostAnswerTookEffect() throws {
        let practice = try Practice(faults: #"{"dropAnswer": true, "count": 1}"#)
        #expect(throws: PracticeClient.Failure.incompleteAnswer(bytes: 0)) { try practice.submit(score: "k1") }
        #expect(practice.server.effectCount(ofKey: "k1") == 1)
        let again = try practice.submit(score: "k1")
        #expect(again.header("idempotent-replayed") == "true")
        #expect(practice.server.effectCount(ofKey: "k1") == 1)
    }

    @Test func aResetCutsTheAnswerOff() throws {
        let practice = try Practice(faults: #"{"resetAfterBytes": 20}"#)
        let connection = try practice.open()
        try TCPSocket.sendAll(Array(rawScore("k1").utf8), on: connection)
        var received: [UInt8] = []
        let error = #expect(throws: SystemError.self) {
            while true {
                let bytes = try connection.read(limitBytes: 4096)
                if bytes.isEmpty { return }
                received += bytes
            }
        }
        #expect(error?.code == 104)
        #expect(received.count <= 20)
        #expect(practice.server.effectCount(ofKey: "k1") == 1)
    }

    @Test func neverAnsweringHasNoEffect() throws {
        let practice = try Practice(faults: #"{"neverAnswer": true}"#)
        let client = try PracticeClient(url: practice.server.url, timeoutMilliseconds: 100)
        let failure = #expect(throws: PracticeClient.Failure.self) { try client.submit("/v1/scores", score("k1")) }
        guard case .system(let error) = failure else {
            Issue.record("expected a time-out, got \(String(describing: failure))")
            return
        }
        #expect(error.code == 11)
        #expect(practice.server.keyCount == 0)
        #expect(try practice.client.get("/healthz").status == 200)
    }

    @Test func rulesRejectOnlyWhatTheyMatch() throws {
        let practice = try Practice(
            faults: """
                {"rejectWhere": [{"leaderboard": "beginner", "valueBelow": 10, "status": 422, "code": "implausible"},
                {"achievement": "flags", "player": "eve", "status": 403, "code": "banned"}]}
                """)
        let bogus = try practice.submit(score: "k1", value: "9.5")
        #expect(bogus.status == 422)
        #expect(bogus.json?["error"]?["code"] == "implausible")
        #expect(try practice.submit(score: "k2", value: "10").status == 200)
        #expect(try practice.submit(score: "k3", value: "1", ["leaderboard": "other"]).status == 200)
        #expect(try practice.submit(achievement: "k4", player: "eve", ["progress": 100]).status == 403)
        #expect(try practice.submit(achievement: "k5", player: "ada", ["progress": 100]).status == 200)
    }

    @Test func notFoundAndUnauthorizedAnswerWhatTheySay() throws {
        let practice = try Practice(faults: #"{"notFound": true}"#)
        #expect(try practice.submit(score: "k1").status == 404)
        try practice.setFaults(#"{"unauthorized": true}"#)
        #expect(try practice.submit(score: "k1").status == 401)
        try practice.setFaults(#"{"unauthorized": "ada"}"#)
        #expect(try practice.submit(score: "k1", player: "ada").status == 401)
        #expect(try practice.submit(score: "k2", player: "grace").status == 200)
    }

    @Test func aCountEndsTheFaults() throws {
        let practice = try Practice(faults: #"{"html": 1, "count": 2}"#)
        let answers = try (0..<3).map { try practice.submit(score: "k\($0)").json?["accepted"] }
        #expect(answers == [nil, nil, true])
        #expect(practice.server.faults == Faults())
    }

    @Test func faultsAreSteeredOverHTTP() throws {
        let practice = try Practice()
        #expect(try practice.client.post("/faults", ["down": "503"]).json == ["down": "503"])
        let both = try practice.client.post("/faults", ["failureShare": 1, "script": [500, "drop"]])
        #expect(both.json == ["down": "503", "failureShare": 1, "script": [500, "drop"]])
        #expect(try practice.client.get("/faults").json == both.json)
        #expect(try practice.client.post("/faults", ["down": nil]).json?["down"] == nil)
        #expect(try practice.client.send("DELETE", "/faults").json == .object(JSONObject()))
        #expect(try practice.submit(score: "k1").status == 200)
    }

    @Test(arguments: [
        #"{"dwon": true}"#, #"{"failureShare": 1.5}"#, #"{"script": [99]}"#, #"{"rejectWhere": [{"status": 200}]}"#,
        #"{"retryAfter": "1\r\nX: y"}"#, #"{"latencyMilliseconds": {"min": 5, "max": 1}}"#, "[]",
        #"{"rejectWhere": [{"valueBelow": "low"}]}"#, #"{"failureStatuses": []}"#,
    ])
    func badFaultsAreRefusedAndChangeNothing(text: String) throws {
        let practice = try Practice(faults: #"{"html": 1}"#)
        let answer = try practice.client.post("/faults", try json(text))
        #expect(answer.status == 400)
        #expect(answer.json?["error"]?["code"] == "invalid-faults")
        #expect(try practice.client.get("/faults").json == ["html": 1])
    }

    @Test func aWebPageElsewhereCannotSteerThem() throws {
        let practice = try Practice()
        let answer = try practice.client.send(
            "POST", "/faults", headers: [("Content-Type", "text/plain")], body: Array(#"{"down":true}"#.utf8))
        #expect(answer.status == 415)
        #expect(practice.server.faults == Faults())
    }
}
