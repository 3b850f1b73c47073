import KleosJSON
import KleosModel
import KleosPractice
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct IdempotencyTests {
    @Test func theSameKeyAndBodyGetsTheStoredAnswer() throws {
        let practice = try Practice()
        let first = try practice.submit(score: "k1", value: "50")
        _ = try practice.submit(score: "k2", player: "grace", value: "20")
        let again = try practice.submit(score: "k1", value: "50")
        #expect(again.status == 200)
        #expect(again.body == first.body)
        #expect(first.header("idempotent-replayed") == nil)
        #expect(again.header("idempotent-replayed") == "true")
        #expect(practice.server.effectCount(ofKey: "k1") == 1)
        #expect(practice.server.counts["repeatedKeys"] == ["k1": 2])
        #expect(practice.server.counts["replays"] == 1)
    }

    @Test func theSameKeyWithAnotherBodyIsRefused() throws {
        let practice = try Practice()
        _ = try practice.submit(score: "k1", value: "50")
        let other = try practice.submit(score: "k1", value: "40")
        #expect(other.status == 422)
        #expect(other.json?["error"]?["code"] == "idempotency-key-reused")
        #expect(practice.server.boards.first?.entries.first?.value.description == "50")
    }

    @Test func aRejectedKeyMayComeAgain() throws {
        let practice = try Practice(faults: #"{"rejectWhere": [{"player": "ada"}]}"#)
        #expect(try practice.submit(score: "k1").status == 422)
        practice.server.setFaults(Faults())
        #expect(try practice.submit(score: "k1").status == 200)
    }

    @Test func aKeyThatIsStillAtWorkIsAConflict() throws {
        let practice = try Practice(faults: #"{"latencyMilliseconds": 3600000, "count": 1}"#)
        let waiting = try practice.open()
        try TCPSocket.sendAll(Array(rawScore("k1").utf8), on: waiting)
        #expect(practice.server.waitForRequests(count: 1))
        let second = try practice.exchange(rawScore("k1", closing: true))
        #expect(second.hasPrefix("HTTP/1.1 409 "))
        #expect(practice.server.effectCount(ofKey: "k1") == 1)
    }

    @Test(arguments: ["k1", "\"\"", "\"k2\"", "\"k1", "k1\""])
    func aHeaderThatIsNotTheQuotedKeyIsRefused(header: String) throws {
        let practice = try Practice()
        let answer = try practice.client.post("/v1/scores", score("k1"), headers: [("Idempotency-Key", header)])
        #expect(answer.status == 400)
        #expect(answer.json?["error"]?["code"] == "invalid-idempotency-key")
    }

    @Test func aMissingHeaderIsRefused() throws {
        let practice = try Practice()
        let answer = try practice.client.post("/v1/scores", score("k1"))
        #expect(answer.status == 400)
        #expect(answer.json?["error"]?["code"] == "missing-idempotency-key")
    }
}

@Suite struct StoreTests {
    @Test func aRestartKeepsBoardsAchievementsAndKeys() throws {
        let folder = try TemporaryFolder()
        let before = try Practice { $0.storeFolder = folder.path("store") }
        let first = try before.submit(score: "k1", value: "50")
        _ = try before.submit(score: "k2", player: "grace", value: "20")
        _ = try before.submit(achievement: "k3", ["progress": 100])
        before.server.stop()

        let after = try Practice { $0.storeFolder = folder.path("store") }
        #expect(after.server.boards == before.server.boards)
        #expect(after.server.achievements == before.server.achievements)
        let again = try after.submit(score: "k1", value: "50")
        #expect(again.body == first.body)
        #expect(again.header("idempotent-replayed") == "true")
        #expect(try after.submit(score: "k1", value: "51").status == 422)
        #expect(after.server.counts["mostEffectsOfOneKey"] == 1)
    }

    @Test func aBodyOverSeveralLinesSurvivesARestart() throws {
        let folder = try TemporaryFolder()
        let body = Array(score("k1").serialized.replacing(",", with: ",\r\n  ").utf8)
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "\"k1\"")]
        let before = try Practice { $0.storeFolder = folder.path }
        #expect(try before.client.send("POST", "/v1/scores", headers: headers, body: body).status == 200)
        before.server.stop()
        let after = try Practice { $0.storeFolder = folder.path }
        let again = try after.client.send("POST", "/v1/scores", headers: headers, body: body)
        #expect(again.header("idempotent-replayed") == "true")
    }

    @Test func aTornLastLineIsCutOff() throws {
        let folder = try TemporaryFolder()
        let before = try Practice { $0.storeFolder = folder.path }
        _ = try before.submit(score: "k1")
        _ = try before.submit(score: "k2")
        before.server.stop()
        let journal = folder.path("journal.jsonl")
        try SmallFile.replace(journal, with: Array(SmallFile.read(at: journal).dropLast(10)))

        let after = try Practice { $0.storeFolder = folder.path }
        #expect(after.server.keyCount == 1)
        #expect(try after.submit(score: "k2").header("idempotent-replayed") == nil)
        after.server.stop()
        let third = try Practice { $0.storeFolder = folder.path }
        #expect(third.server.keyCount == 2)
    }

    @Test func aDamagedStoreIsRefusedAndLeftAsItIs() throws {
        let folder = try TemporaryFolder()
        let journal = folder.path("journal.jsonl")
        try SmallFile.replace(journal, with: Array("{\"path\":1}\n".utf8))
        let error = #expect(throws: (any Error).self) { try Practice { $0.storeFolder = folder.path } }
        #expect("\(try #require(error))".contains("line 1"))
        #expect(try SmallFile.readText(at: journal) == "{\"path\":1}\n")
    }

    @Test func aStoreHasOneOwner() throws {
        let folder = try TemporaryFolder()
        let owner = try Practice { $0.storeFolder = folder.path }
        #expect(throws: SystemError.self) { try Practice { $0.storeFolder = folder.path } }
        #expect(try owner.submit(score: "k1").status == 200)
    }
}
