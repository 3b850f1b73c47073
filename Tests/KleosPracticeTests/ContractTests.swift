import KleosJSON
import KleosModel
import KleosPractice
import Testing

@Suite struct ContractTests {
    @Test func aScoreIsConfirmedWithRankAndBest() throws {
        let practice = try Practice()
        let first = try practice.submit(score: "k1", player: "ada", value: "8080")
        #expect(first.status == 200)
        #expect(first.header("content-type") == "application/json")
        #expect(first.json == ["accepted": true, "rank": 1, "best": "8080", "improved": true])
        let second = try practice.submit(score: "k2", player: "grace", value: "9000")
        #expect(second.json == ["accepted": true, "rank": 2, "best": "9000", "improved": true])
        let worse = try practice.submit(score: "k3", player: "ada", value: "10000")
        #expect(worse.json == ["accepted": true, "rank": 1, "best": "8080", "improved": false])
        let better = try practice.submit(score: "k4", player: "grace", value: "7000")
        #expect(better.json == ["accepted": true, "rank": 1, "best": "7000", "improved": true])
    }

    @Test func zeroIsAnImprovementOnlyWhereItIsBetter() throws {
        let practice = try Practice()
        let down: JSONValue = ["order": "descending", "leaderboard": "points"]
        _ = try practice.submit(score: "k1", value: "-5", down)
        #expect(try practice.submit(score: "k2", value: "0", down).json?["improved"] == true)
        _ = try practice.submit(score: "k3", value: "5")
        #expect(try practice.submit(score: "k4", value: "0").json?["improved"] == true)
        #expect(try practice.submit(score: "k5", value: "1").json?["best"] == "0")
    }

    @Test func equalValuesShareARank() throws {
        let practice = try Practice()
        for (key, player, value) in [("1", "a", "5"), ("2", "b", "5"), ("3", "c", "5.0"), ("4", "d", "6")] {
            _ = try practice.submit(score: key, player: player, value: value)
        }
        let board = try #require(practice.server.board(game: "minesweeper", leaderboard: "beginner"))
        #expect(board.entries.map(\.rank) == [1, 1, 1, 4])
        #expect(board.entries.map(\.player) == ["a", "b", "c", "d"])
        #expect(try practice.submit(score: "5", player: "e", value: "5").json?["rank"] == 1)
    }

    @Test func playersAreComparedByteByByte() throws {
        let practice = try Practice()
        for (key, player) in [("1", "Zo\u{EB}"), ("2", "Zoe\u{308}")] {
            _ = try practice.submit(score: key, player: player, value: "5")
            _ = try practice.submit(achievement: "a\(key)", ["progress": 50, "player": .string(player)])
        }
        #expect(practice.server.boards.first?.entries.count == 2)
        #expect(practice.server.achievements.count == 2)
    }

    @Test func everyKeepRuleKeepsWhatItSays() throws {
        let practice = try Practice()
        func send(_ keep: String, _ values: [String]) throws -> [JSONValue?] {
            try values.enumerated().map { index, value in
                let rules: JSONValue = ["leaderboard": .string(keep), "keep": .string(keep), "order": "descending"]
                return try practice.submit(score: "\(keep)\(index)", value: value, rules).json?["best"]
            }
        }
        #expect(try send("best", ["3", "9", "4"]) == ["3", "9", "9"])
        #expect(try send("latest", ["3", "9", "4"]) == ["3", "9", "4"])
        #expect(try send("sum", ["3", "9.5", "-4"]) == ["3", "12.5", "8.5"])
        #expect(try send("every", ["3", "9", "4"]) == ["3", "9", "9"])
        let every = try #require(practice.server.board(game: "minesweeper", leaderboard: "every"))
        #expect(every.entries.map(\.value.description) == ["9", "4", "3"])
    }

    @Test func aSumBeyond64BitsIsRejectedAndChangesNothing() throws {
        let practice = try Practice()
        let rules: JSONValue = ["keep": "sum"]
        _ = try practice.submit(score: "k1", value: "9223372036854775807", rules)
        let answer = try practice.submit(score: "k2", value: "1", rules)
        #expect(answer.status == 422)
        #expect(answer.json?["error"]?["code"] == "out-of-range")
        #expect(practice.server.boards.first?.value(of: "ada")?.description == "9223372036854775807")
    }

    @Test func otherRulesForAKnownBoardAreRejected() throws {
        let practice = try Practice()
        _ = try practice.submit(score: "k1")
        let answer = try practice.submit(score: "k2", ["order": "descending"])
        #expect(answer.status == 422)
        #expect(answer.json?["error"]?["code"] == "rules-differ")
    }

    @Test func anAchievementUnlocksOnceAndNeverGoesBack() throws {
        let practice = try Practice()
        let half = try practice.submit(achievement: "k1", ["progress": 50])
        #expect(half.json == ["accepted": true, "unlocked": false, "new": false, "progress": 50])
        #expect(try practice.submit(achievement: "k2", ["progress": 20]).json?["progress"] == 50)
        let full = try practice.submit(achievement: "k3", ["progress": 100])
        #expect(full.json == ["accepted": true, "unlocked": true, "new": true, "progress": 100])
        let again = try practice.submit(achievement: "k4", ["progress": 100])
        #expect(again.json == ["accepted": true, "unlocked": true, "new": false, "progress": 100])
        #expect(practice.server.achievements.count == 1)
    }

    @Test func stepsAndIncrementsCount() throws {
        let practice = try Practice()
        let some = try practice.submit(achievement: "k1", ["steps": 37, "of": 100])
        #expect(some.json == ["accepted": true, "unlocked": false, "new": false, "progress": 37, "steps": 37])
        #expect(try practice.submit(achievement: "k2", ["increment": 3, "of": 100]).json?["steps"] == 40)
        #expect(try practice.submit(achievement: "k3", ["steps": 39, "of": 100]).json?["steps"] == 40)
        #expect(try practice.submit(achievement: "k4", ["increment": 60, "of": 100]).json?["new"] == true)
    }

    @Test(arguments: [
        ("value", JSONValue.integer(8), 400, "invalid-value"), ("value", "eight", 400, "invalid-value"),
        ("value", "1e3", 400, "invalid-value"), ("value", "9223372036854775808", 400, "invalid-value"),
        ("order", "sideways", 400, "invalid-value"), ("keep", "worst", 400, "invalid-value"),
        ("player", .null, 400, "missing-member"), ("player", "", 400, "invalid-value"),
        ("game", .null, 400, "missing-member"), ("leaderboard", .null, 400, "missing-member"),
        ("occurredAt", "yesterday", 400, "invalid-value"), ("recordedAt", .null, 400, "missing-member"),
        ("metadata", .array([1]), 400, "invalid-value"),
    ])
    func aBadMemberIsNamed(name: String, value: JSONValue, status: Int, code: String) throws {
        let practice = try Practice()
        let bad = try practice.client.submit("/v1/scores", merged(score("k1"), .object(member(name, value))))
        #expect(bad.status == status)
        #expect(bad.json?["error"]?["code"]?.stringValue == code)
        #expect(bad.json?["error"]?["message"]?.stringValue?.contains("\"\(name)\"") == true)
        #expect(practice.server.keyCount == 0)
    }

    private func member(_ name: String, _ value: JSONValue) -> JSONObject {
        var object = JSONObject()
        object[name] = value
        return object
    }

    @Test func anAchievementNeedsExactlyOneChange() throws {
        let practice = try Practice()
        for changes in [
            JSONValue.object(JSONObject()), ["progress": 1, "steps": 1], ["progress": 101], ["progress": -1],
            ["increment": 0], ["steps": "3"],
        ] {
            #expect(try practice.submit(achievement: "k1", changes).status == 400, "\(changes.serialized)")
        }
    }

    @Test func aTokenIsRequiredWhereOneIsSet() throws {
        let practice = try Practice { $0.token = "secret" }
        let without = try practice.submit(score: "k1")
        #expect(without.status == 401)
        #expect(without.header("www-authenticate") == "Bearer")
        #expect(try practice.client.submit("/v1/scores", score("k1"), token: "wrong").status == 401)
        #expect(try practice.client.submit("/v1/scores", score("k1"), token: "secret").status == 200)
    }

    @Test func otherPathsMethodsAndTypesAreRefused() throws {
        let practice = try Practice()
        #expect(try practice.client.submit("/v2/scores", score("k1")).status == 404)
        let get = try practice.client.get("/v1/scores")
        #expect(get.status == 405)
        #expect(get.header("allow") == "POST")
        let text = try practice.client.send(
            "POST", "/v1/scores", headers: [("Content-Type", "text/plain"), ("Idempotency-Key", "\"k\"")], body: [])
        #expect(text.status == 415)
        let broken = try practice.client.send(
            "POST", "/v1/scores", headers: [("Content-Type", "application/json"), ("Idempotency-Key", "\"k\"")],
            body: Array("{,}".utf8))
        #expect(broken.status == 400)
        #expect(broken.json?["error"]?["code"] == "invalid-json")
    }
}
