import KleosJSON
import KleosModel
import KleosServer
import KleosTestSupport
import KleosWire
import Testing

/// What is answered while the configuration has errors.
@Suite struct FaultTests {
    private let harness: ServerHarness
    private static let problem = "games.d/secret-game.conf:3: nonsense"

    init() throws {
        harness = try ServerHarness()
        var settings = ServerSettings(games: [:], endpoints: [:], controlGID: ServerHarness.gid, daemonUID: 990)
        settings.fault = ServerFault(details: Self.problem)
        harness.server.configure(settings)
    }

    @Test("games are asked to try again, and not told what they may not know")
    func games() throws {
        let client = try harness.connect()
        let answer = try client.submit(
            #"{"kind":"score","game":"minesweeper","leaderboard":"every","value":1,"id":"one"}"#)
        #expect(answer.reason == "unavailable")
        #expect(answer["error"]?["message"]?.stringValue?.contains("configuration has errors") == true)
        #expect(answer["error"]?["message"]?.stringValue?.contains("secret-game") == false)
        let status = try #require(try client.ask("status").result)
        #expect(status["fault"] == "")
    }

    @Test("operators are told what is wrong, and may look and reload, but not operate")
    func operators() throws {
        let control = try harness.control()
        #expect(try control.ask("status").result?["fault"] == .string(Self.problem))
        #expect(try control.ask("list").result != nil)
        #expect(try control.ask("reload").reason == "reload-failed")
        let refused = try control.ask("flush")
        #expect(refused.reason == "unavailable")
        #expect(refused["error"]?["message"]?.stringValue?.contains(Self.problem) == true)
    }
}
