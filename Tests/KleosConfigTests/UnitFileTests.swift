import KleosConfig
import KleosModel
import Testing

/// A file, and what is said about it.
struct BadFile: CustomTestStringConvertible, Sendable {
    let name: String
    let text: String
    let message: String

    init(_ message: String, in name: String = "games.d/g.conf", _ text: String) {
        self.name = name
        self.text = text
        self.message = message
    }

    var testDescription: String { message }
}

@Suite struct UnitFileTests {
    static let endpoint = "[Endpoint]\nURL=https://scores.example.org\n"

    private func problems(_ file: BadFile) throws -> String {
        var files = ["endpoints.d/home.conf": Self.endpoint]
        files[file.name] = file.text
        return try ConfigurationFolder(files).problems()
    }

    private static let grammar = [
        BadFile(
            "games.d/g.conf:1: \"Title=\" stands before the first [Section]", "Title=x\n[Game]\nEndpoints=home\n"),
        BadFile(
            "games.d/g.conf:3: expected Key=Value, [Section] or a comment, found \"Title\"",
            "[Game]\nEndpoints=home\nTitle\n"),
        BadFile(
            "games.d/g.conf:3: malformed section \"[Leaderboard beginner\"; write [Name] or [Name id]",
            "[Game]\nEndpoints=home\n[Leaderboard beginner\nOrder=nonsense\n"),
        BadFile(
            "games.d/g.conf:3: malformed key \"Ti tle\"; keys are letters and digits, as in Title= or Title[de]=",
            "[Game]\nEndpoints=home\nTi tle=x\n"),
        BadFile(
            "games.d/g.conf:3: the backslash at the end of line 3 continues nothing",
            "[Game]\nEndpoints=home\nTitle=x\\"),
        BadFile("games.d/g.conf:3: the line contains a NUL byte", "[Game]\nEndpoints=home\nTitle=x\0y\n"),
        BadFile("games.d/g.conf:3: the line contains a control character", "[Game]\nEndpoints=home\nTitle=x\u{1B}y\n"),
        BadFile(
            "games.d/g.conf:3: the line is longer than 16384 bytes",
            "[Game]\nEndpoints=home\nTitle=\(String(repeating: "x", count: 17_000))\n"),
    ]

    private static let names = [
        BadFile(
            "games.d/g.conf:3: unknown section [Leaderbord beginner]; did you mean [Leaderboard]?",
            "[Game]\nEndpoints=home\n[Leaderbord beginner]\nOrder=ascending\n"),
        BadFile("games.d/g.conf:3: unknown section [Weather]", "[Game]\nEndpoints=home\n[Weather]\n"),
        BadFile(
            "games.d/g.conf:3: unknown key Tilte= in [Game]; did you mean Title=?",
            "[Game]\nEndpoints=home\nTilte=x\n"),
        BadFile(
            "games.d/g.conf:3: unknown key title= in [Game]; did you mean Title=?",
            "[Game]\nEndpoints=home\ntitle=x\n"),
        BadFile("games.d/g.conf:3: unknown key Colour= in [Game]", "[Game]\nEndpoints=home\nColour=x\n"),
        BadFile(
            "games.d/g.conf:3: Order= belongs in [Leaderboard], not in [Game]",
            "[Game]\nEndpoints=home\nOrder=ascending\n"),
        BadFile(
            "games.d/g.conf:3: [Leaderboard] needs an id, as in [Leaderboard ID]",
            "[Game]\nEndpoints=home\n[Leaderboard]\n"),
        BadFile(
            "games.d/g.conf: [Game] needs Endpoints=\ngames.d/g.conf:1: [Game] takes no id, but \"x\" follows it",
            "[Game x]\nEndpoints=home\n"),
        BadFile(
            "games.d/g.conf:4: Points= has no translations; remove [de]",
            "[Game]\nEndpoints=home\n[Achievement a]\nPoints[de]=5\n"),
        BadFile(
            "games.d/g.conf:3: Title[de]=Spiel: a translation needs Title= without a language beside it",
            "[Game]\nEndpoints=home\nTitle[de]=Spiel\n"),
        BadFile(
            "games.d/g.conf:6: Order= of [Leaderboard a] is set a second time; line 4 set it first",
            "[Game]\nEndpoints=home\n[Leaderboard a]\nOrder=ascending\n[Leaderboard a]\nOrder=descending\n"),
        BadFile("games.d/g.conf:1: [Game] needs Endpoints=", "[Game]\nTitle=x\n"),
        BadFile("games.d/g.conf: [Game] needs Endpoints=", ""),
    ]

    @Test(arguments: grammar + names)
    func saysWhatIsWrongAndWhere(file: BadFile) throws {
        #expect(try problems(file) == file.message)
    }

    @Test func invalidUTF8IsRefusedWithItsLine() throws {
        let folder = try ConfigurationFolder(["endpoints.d/home.conf": Self.endpoint])
        try folder.write("games.d/g.conf", bytes: Array("[Game]\nEndpoints=home\nTitle=".utf8) + [0xC3, 0x28, 0x0A])
        #expect(
            folder.problems() == "games.d/g.conf:3: the line is not valid UTF-8; save the file as UTF-8")
    }

    @Test func allProblemsOfALoadAreFound() throws {
        let folder = try ConfigurationFolder([
            "kleosd.conf": "[Daemon]\nLogLevel=loud\n[Storage]\nMaximumSize=lots\n",
            "games.d/a.conf": "[Game]\nEndpoints=home\nTitel=x\n",
            "games.d/b.conf": "[Gmae]\n",
            "endpoints.d/home.conf": "[Endpoint]\nURL=ftp://x\n",
        ])
        #expect(
            folder.problems() == """
                kleosd.conf:2: LogLevel=loud: expected one of error, warning, notice, info or debug
                kleosd.conf:4: MaximumSize=lots: expected a size from 1M to 16T, such as 64K, 512M or 2G
                games.d/a.conf:3: unknown key Titel= in [Game]; did you mean Title=?
                games.d/b.conf: [Game] needs Endpoints=
                games.d/b.conf:1: unknown section [Gmae]; did you mean [Game]?
                endpoints.d/home.conf:2: URL=ftp://x: expected an address that starts with https:// or http://
                """)
    }

    @Test func readsCommentsContinuationsTranslationsAndSpaces() throws {
        let text =
            "\u{FEFF}# comment\r\n; another\n\n  [Game]  \r\n Endpoints = ho\\\n# in between\n\n" + """
                Title=Mission: \\
                  Minesweeper = fun
                Title[de]=Mission: Minensuche
                Title[pt_BR]=Missão
                [Achievement a]
                Title=
                Description=#1 # not a comment
                """
        let folder = try ConfigurationFolder([
            "games.d/g.conf": text, "endpoints.d/ho.conf": Self.endpoint,
        ])
        let game = try #require(try folder.load().games["g"])
        #expect(game.endpoints == ["ho"])
        #expect(
            game.title
                == LocalizedText(
                    "Mission:  Minesweeper = fun",
                    translations: ["de": "Mission: Minensuche", "pt_BR": "Missão"]))
        #expect(game.achievements["a"]?.title.standard == "a")
        #expect(game.achievements["a"]?.description?.standard == "#1 # not a comment")
    }
}
