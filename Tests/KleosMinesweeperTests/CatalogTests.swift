import Glibc
import KleosConfig
import KleosMinesweeper
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct CatalogTests {
    private struct NoAccounts: AccountResolver {
        func uid(ofUser user: String) -> UInt32? { nil }
        func gid(ofGroup group: String) -> UInt32? { nil }
    }

    /// The game as the daemon reads it from the file that comes with kleos.
    private static func game() throws -> Game {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let folder = try TemporaryFolder(prefix: "catalog")
        try Folder.make(folder.path("games.d"))
        try Folder.make(folder.path("endpoints.d"))
        let text = try SmallFile.read(at: "\(root)/config/games.d/minesweeper.conf")
        try SmallFile.replace(folder.path("games.d/minesweeper.conf"), with: text)
        try SmallFile.replace(
            folder.path("endpoints.d/home.conf"), with: Array("[Endpoint]\nURL=http://127.0.0.1:1\n".utf8))
        let loader = ConfigurationLoader(
            sources: .only(folder.path), accounts: NoAccounts(), daemonUID: getuid())
        return try #require(try loader.load().games["minesweeper"])
    }

    @Test func hasALeaderboardForEachLevel() throws {
        let game = try Self.game()
        #expect(Set(game.leaderboards.keys) == Set(Level.allCases.map(\.rawValue)))
        for board in game.leaderboards.values {
            #expect(board.format == .milliseconds)
            #expect(board.order == .ascending)
            #expect(board.keep == .best)
            #expect(board.minimum == ScoreValue(units: 1))
            #expect(board.title.standard == Level(rawValue: board.id)?.title)
        }
    }

    @Test func hasTheAchievementsThatTheGameKnows() throws {
        let game = try Self.game()
        #expect(AchievementID.allCases.count == 31)
        #expect(Set(game.achievements.keys) == Set(AchievementID.allCases.map(\.rawValue)))
        for (id, achievement) in game.achievements {
            let known = try #require(AchievementID(rawValue: id))
            #expect(achievement.steps == AchievementRules.counted[known], "\(id)")
            #expect(achievement.points > 0, "\(id)")
            #expect(achievement.description?.standard.isEmpty == false, "\(id)")
            #expect(achievement.title.translations["de"] != nil, "\(id)")
            #expect(achievement.title.standard == known.words.title)
            #expect(achievement.description?.standard == known.words.description)
        }
    }

    @Test func hidesTheImpossibleMission() throws {
        let achievement = try #require(try Self.game().achievements["impossible-mission"])
        #expect(achievement.title.standard == "Impossible Mission")
        #expect(achievement.isHidden)
        #expect(achievement.points == 100)
        #expect(achievement.steps == nil)
    }
}
