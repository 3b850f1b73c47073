import KleosJSON
import KleosMinesweeper
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// The real program against a daemon of the test's.
@Suite struct ProgramTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(prefix: "minesweeper")
    }

    private func run(_ arguments: [String]) throws -> ChildProcess.Result {
        try ChildProcess(
            BuiltPrograms.path("kleos-minesweeper"), arguments,
            environment: ["KLEOS_SOCKET": folder.path("kleos.sock")], errorFile: folder.path("errors")
        ).finish()
    }

    private static func accept(_ standings: [Standing] = []) -> ScriptedDaemon.Handler {
        { method, parameters in
            if method == .standing { return .success(StandingAnswer(standings: standings).json()) }
            guard method == .submit, let id = parameters["id"]?.stringValue.flatMap(EventKey.init) else {
                return .failure(RPCError(.invalidParameter, "not expected: \(method)"))
            }
            return .success(SubmitAnswer(key: id, isSuperseded: false, isDuplicate: false).json)
        }
    }

    private func play(_ arguments: [String], standings: [Standing] = []) throws -> (
        result: ChildProcess.Result, submissions: [JSONObject]
    ) {
        let daemon = try ScriptedDaemon(folder: folder.path, handler: Self.accept(standings))
        defer { daemon.stop() }
        let result = try run(arguments)
        #expect(daemon.requests.first?.method == .standing)
        return (result, daemon.requests.dropFirst().map(\.parameters))
    }

    private static func achievements(_ submissions: [JSONObject]) -> [String] {
        submissions.compactMap { $0["achievement"]?.stringValue }
    }

    @Test func submitsWhatItsGamesEarned() throws {
        let (result, submissions) = try play(["--auto", "12", "--seed", "3", "--player", "bea"])
        #expect(result.isSuccess)
        #expect(!submissions.isEmpty)
        for submission in submissions {
            #expect(submission["game"] == "minesweeper")
            #expect(submission["player"] == "bea")
        }
        let times = submissions.compactMap { $0["value"]?.stringValue.flatMap { Int64($0) } }
        let wins = result.output.split(separator: "\n").filter { $0.contains(" won in ") }
        #expect(!wins.isEmpty)
        #expect(times.count == wins.count)
        #expect(times.allSatisfy { $0 >= 1 })
        let achievements = Self.achievements(submissions)
        #expect(achievements.contains("first-steps"))
        #expect(achievements.contains("first-win"))
        #expect(achievements.allSatisfy { AchievementID(rawValue: $0) != nil })
        #expect(
            result.output.hasSuffix("\(submissions.count) of \(submissions.count) submissions are safe with kleos\n"))
    }

    /// The third field of this seed has an eight that the player comes to last.
    @Test func earnsTheImpossibleMissionByPlaying() throws {
        let (result, submissions) = try play(["--auto", "3", "--level", "advanced", "--seed", "5559718819548087160"])
        #expect(result.isSuccess)
        #expect(result.output.contains("game 3: advanced won in "))
        let mission = submissions.filter { $0["achievement"] == "impossible-mission" }
        #expect(mission.count == 1)
        #expect(mission.first?["progress"] == 100)
    }

    @Test func submitsNothingThatIsEarnedAlready() throws {
        let first = try play(["--auto", "6", "--seed", "3", "--level", "beginner", "--player", "bea", "--quiet"])
        #expect(Self.achievements(first.submissions).contains("first-win"))
        let standings = AchievementID.allCases.enumerated().map { index, id in
            let measure = AchievementRules.counted[id].map { StandingMeasure.steps($0) } ?? .progress(100)
            let mark = StandingMark(measure: measure, atMilliseconds: 0)
            // One that is on its way counts like one that is confirmed.
            return Standing(
                stream: StreamKey(
                    endpoint: "home", game: "minesweeper", player: "bea", kind: .achievement, item: id.rawValue),
                confirmed: index.isMultiple(of: 2) ? mark : nil, pending: index.isMultiple(of: 2) ? nil : mark)
        }
        let second = try play(
            ["--auto", "6", "--seed", "3", "--level", "beginner", "--player", "bea", "--quiet"], standings: standings)
        #expect(second.result.isSuccess)
        #expect(Self.achievements(second.submissions).isEmpty)
        #expect(second.submissions.allSatisfy { $0["leaderboard"] == "beginner" })
        #expect(second.submissions.count == first.submissions.filter { $0["leaderboard"] != nil }.count)
    }

    @Test func countsOnFromWhatThePlayerHas() throws {
        let nine = Standing(
            stream: StreamKey(
                endpoint: "home", game: "minesweeper", player: "bea", kind: .achievement, item: "ten-wins"),
            confirmed: StandingMark(measure: .steps(9), atMilliseconds: 0))
        let (_, submissions) = try play(
            ["--auto", "6", "--seed", "3", "--level", "beginner", "--player", "bea"], standings: [nine])
        let steps = submissions.filter { $0["achievement"] == "ten-wins" }.compactMap { $0["steps"]?.int64Value }
        #expect(steps == [10])
    }

    @Test func printsOneObjectForEachAcknowledgement() throws {
        let (result, submissions) = try play(["--events", "10", "--seed", "3", "--json"])
        #expect(result.isSuccess)
        #expect(submissions.count >= 10)
        let rows = try result.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
        #expect(rows.count == submissions.count)
        #expect(
            rows.compactMap { $0["id"]?.stringValue } == submissions.compactMap { $0["id"]?.stringValue })
        #expect(rows.allSatisfy { $0["key"] == $0["id"] })
    }

    @Test func playsTheSameFieldsForTheSameSeed() throws {
        func boards(_ seed: String) throws -> String {
            let (result, _) = try play(["--auto", "1", "--seed", seed, "--level", "beginner", "--quiet", "--show"])
            return result.output.split(separator: "\n").filter { "┌│└".contains($0.prefix(1)) }.joined(separator: "\n")
        }
        let board = try boards("7")
        #expect(board.split(separator: "\n").count == 11)
        #expect(try boards("7") == board)
        #expect(try boards("8") != board)
    }

    @Test func failsWhereTheDaemonRefuses() throws {
        let daemon = try ScriptedDaemon(folder: folder.path) { method, _ in
            if method == .standing { return .success(StandingAnswer(standings: []).json()) }
            return .failure(RPCError(.unknownLeaderboard, "no such board"))
        }
        defer { daemon.stop() }
        let result = try run(["--auto", "3", "--seed", "3"])
        #expect(result.ending == .exited(65))
        #expect(result.errors.contains("no such board (unknown-leaderboard)"))
    }

    @Test func failsWhereNoDaemonAnswers() throws {
        let result = try run(["--auto", "1", "--wait", "0"])
        #expect(result.ending == .exited(69))
        #expect(result.errors.hasPrefix("kleos-minesweeper: no kleos daemon answers"))
        #expect(result.output.isEmpty)
    }

    @Test(arguments: [
        [], ["--auto"], ["--auto", "0"], ["--auto", "x"], ["--auto", "1", "--level", "easy"], ["--fast"],
        ["--auto", "1", "--seed", "-1"],
    ])
    func refusesCommandLinesThatItCannotFollow(arguments: [String]) throws {
        let result = try run(arguments)
        #expect(result.ending == .exited(64))
        #expect(result.errors.hasPrefix("kleos-minesweeper: "))
    }

    @Test func explainsItself() throws {
        let help = try run(["--help"])
        #expect(help.isSuccess)
        for option in ["--auto", "--events", "--level", "--player", "--seed", "--json", "--quiet", "--show"] {
            #expect(help.output.contains(option))
        }
        #expect(try run(["--version"]).output == "kleos-minesweeper 0.1.0\n")
    }
}
