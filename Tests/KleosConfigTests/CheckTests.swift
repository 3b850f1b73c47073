import Glibc
import KleosConfig
import KleosModel
import KleosSupport
import Testing

@Suite struct CheckTests {
    private static func endpoint(_ lines: String) -> [String: String] {
        ["endpoints.d/home.conf": "[Endpoint]\nURL=https://scores.example.org\n\(lines)"]
    }

    @Test(arguments: [
        ("keeps-best", "sum", "keeps only the best score"), ("keeps-best", "every", "keeps only the best score"),
        ("keeps-best", "latest", "keeps only the best score"), ("last-write", "every", "keeps only the last score"),
        ("last-write", "sum", "keeps only the last score"),
    ])
    func combinationsThatCannotKeepThePromiseAreRefused(resend: String, keep: String, reason: String) throws {
        var files = Self.endpoint("Resend=\(resend)\n")
        files["games.d/g.conf"] = "[Game]\nEndpoints=home\n[Leaderboard b]\nOrder=ascending\nKeep=\(keep)\n"
        #expect(
            try ConfigurationFolder(files).problems()
                == "games.d/g.conf:5: Keep=\(keep): endpoint \"home\" \(reason) (Resend=\(resend)); "
                + "use Keep=best or another endpoint")
    }

    @Test(arguments: [
        ("keyed", "sum"), ("keyed", "every"), ("keeps-best", "best"), ("last-write", "latest"), ("last-write", "best"),
        ("accumulates", "sum"), ("accumulates", "every"),
    ])
    func otherCombinationsAreAllowed(resend: String, keep: String) throws {
        var files = Self.endpoint("Resend=\(resend)\n")
        files["games.d/g.conf"] = "[Game]\nEndpoints=home\n[Leaderboard b]\nKeep=\(keep)\n"
        #expect(try ConfigurationFolder(files).problems() == "")
    }

    private static let games = [
        BadFile(
            "games.d/g.conf:2: Endpoints=hmoe: there is no endpoint \"hmoe\"; did you mean \"home\"?",
            "[Game]\nEndpoints=hmoe\n"),
        BadFile("games.d/g.conf:2: Endpoints=home home: \"home\" is listed twice", "[Game]\nEndpoints=home home\n"),
        BadFile(
            "games.d/g.conf:2: Endpoints=: events of the game would go nowhere; name an endpoint",
            "[Game]\nEndpoints=\n"),
        BadFile(
            "games.d/g.conf:3: Confirms=hme: expected first, all or an endpoint that Endpoints= lists; "
                + "did you mean \"home\"?",
            "[Game]\nEndpoints=home\nConfirms=hme\n"),
        BadFile(
            "games.d/g.conf:3: Id=-g: a name has letters, digits, \".\", \"_\" and \"-\", and starts with a letter or "
                + "digit",
            "[Game]\nEndpoints=home\nId=-g\n"),
        BadFile(
            "games.d/g.conf:3: Player=bob: Players= does not list this player",
            "[Game]\nEndpoints=home\nPlayer=bob\nPlayers=ada \"grace h\"\n"),
        BadFile(
            "games.d/g.conf:3: AllowUsers=ada nobody-here: there is no user \"nobody-here\"; check the name with "
                + "\"getent passwd\"",
            "[Game]\nEndpoints=home\nAllowUsers=ada nobody-here\n"),
        BadFile(
            "games.d/g.conf:3: AllowGroups=player: there is no group \"player\"; make it with "
                + "\"groupadd --system player\" or name another",
            "[Game]\nEndpoints=home\nAllowGroups=player\n"),
        BadFile(
            "games.d/g.conf:3: AllowUnits=game.socket a*: \"game.socket\" is no unit with processes; those end in "
                + ".service or .scope",
            "[Game]\nEndpoints=home\nAllowUnits=game.socket a*\n"),
        BadFile(
            "games.d/g.conf:3: Notices=curent-player: expected one of current-player, all or none; did you mean "
                + "\"current-player\"?",
            "[Game]\nEndpoints=home\nNotices=curent-player\n"),
        BadFile(
            "games.d/g.conf:3: NoticeKinds=scores: \"scores\" is not score or achievement; did you mean \"score\"?",
            "[Game]\nEndpoints=home\nNoticeKinds=scores\n"),
        BadFile(
            "games.d/g.conf:4: Order=ascend: expected one of ascending or descending; did you mean \"ascending\"?",
            "[Game]\nEndpoints=home\n[Leaderboard b]\nOrder=ascend\n"),
        BadFile(
            "games.d/g.conf:5: Decimals=2: milliseconds are whole; use Format=seconds for decimals",
            "[Game]\nEndpoints=home\n[Leaderboard b]\nFormat=milliseconds\nDecimals=2\n"),
        BadFile(
            "games.d/g.conf:4: Minimum=1.5: has more decimals than Decimals=0 allows",
            "[Game]\nEndpoints=home\n[Leaderboard b]\nMinimum=1.5\n"),
        BadFile(
            "games.d/g.conf:4: Minimum=few: expected a number",
            "[Game]\nEndpoints=home\n[Leaderboard b]\nMinimum=few\n"),
        BadFile(
            "games.d/g.conf:4: Maximum=9223372036854775808: is beyond 64 bits",
            "[Game]\nEndpoints=home\n[Leaderboard b]\nMaximum=9223372036854775808\n"),
        BadFile(
            "games.d/g.conf:5: Maximum=5: is less than Minimum=6",
            "[Game]\nEndpoints=home\n[Leaderboard b]\nMinimum=6\nMaximum=5\n"),
        BadFile(
            "games.d/g.conf:3: [Leaderboard a b]: an id has visible ASCII characters only, without spaces, quotation "
                + "marks and backslashes",
            "[Game]\nEndpoints=home\n[Leaderboard a b]\n"),
        BadFile(
            "games.d/g.conf:4: Steps=0: expected a whole number from 1 to 2147483647",
            "[Game]\nEndpoints=home\n[Achievement a]\nSteps=0\n"),
    ]

    @Test(arguments: games)
    func mistakesInGames(file: BadFile) throws {
        var files = Self.endpoint("")
        files[file.name] = file.text
        #expect(try ConfigurationFolder(files).problems() == file.message)
    }

    @Test(arguments: [
        (
            "http://scores.example.org",
            "plain http leaves the machine unprotected; use https, or say AllowInsecure=yes in [Endpoint]"
        ),
        (
            "http://127.0.0.1.example.org",
            "plain http leaves the machine unprotected; use https, or say AllowInsecure=yes in [Endpoint]"
        ),
        ("https://", "the address names no valid host"), ("https://:80", "the address names no valid host"),
        ("https://a_b/%zz\u{E9}", "an address has only visible ASCII characters; write others in percent form"),
        ("https://x:0", "the address's port is not a number from 1 to 65535"),
        ("https://x:99999/a", "the address's port is not a number from 1 to 65535"),
        ("https://[::1]x/", "the address's port is not a number from 1 to 65535"),
        ("https://x/?a=b", "an address must not contain \"?\" or \"#\""),
        ("https://x#a", "an address must not contain \"?\" or \"#\""),
        ("scores.example.org", "expected an address that starts with https:// or http://"),
    ])
    func addressesThatAreRefused(url: String, message: String) throws {
        let folder = try ConfigurationFolder(["endpoints.d/e.conf": "[Endpoint]\nURL=\(url)\n"])
        let shown = url.contains("?") || url.contains("#") ? "..." : url
        #expect(folder.problems() == "endpoints.d/e.conf:2: URL=\(shown): \(message)")
    }

    @Test(arguments: [
        ("https://scores.example.org/", "https://scores.example.org"),
        ("http://localhost:8080/a/b/", "http://localhost:8080/a/b"), ("http://127.3.2.1", "http://127.3.2.1"),
        ("http://[::1]:9", "http://[::1]:9"), ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
    ])
    func addressesThatAreTaken(url: String, expected: String) throws {
        let folder = try ConfigurationFolder(["endpoints.d/e.conf": "[Endpoint]\nURL=\(url)\n"])
        #expect(try folder.load().endpoints["e"]?.url == expected)
    }

    @Test func plainHTTPIsPossibleOnPurpose() throws {
        let folder = try ConfigurationFolder([
            "endpoints.d/e.conf": "[Endpoint]\nURL=http://nas.lan\nAllowInsecure=yes\n"
        ])
        #expect(try folder.load().endpoints["e"]?.allowsInsecure == true)
    }

    @Test(arguments: [
        (
            "Name=all\n",
            "endpoints.d/home.conf:3: Name=all: \"all\" has a meaning of its own in Confirms=; choose another"
        ),
        ("[Retry]\nBase=10s\nCap=5s\n", "endpoints.d/home.conf:5: Cap=5s: is less than Base=10s"),
        (
            "[Retry]\nBase=2h\n",
            "endpoints.d/home.conf:4: Base=2h: expected a duration from 250ms to 1h, such as 500ms, 2s, 1h 30min or 30d"
        ),
        ("[Limits]\nTimeout=2s\n", "endpoints.d/home.conf:4: Timeout=2s: is less than ConnectTimeout=10s"),
        (
            "CertificateAuthorities=ca.pem\n",
            "endpoints.d/home.conf:3: CertificateAuthorities=ca.pem: cannot open endpoints.d/ca.pem: No such file or directory"
        ),
    ])
    func mistakesInEndpoints(lines: String, message: String) throws {
        #expect(try ConfigurationFolder(Self.endpoint(lines)).problems() == message)
    }

    @Test func namesAreUnique() throws {
        let folder = try ConfigurationFolder([
            "endpoints.d/a.conf": "[Endpoint]\nURL=https://a.example\nName=x\n",
            "endpoints.d/x.conf": "[Endpoint]\nURL=https://b.example\n",
        ])
        #expect(
            folder.problems()
                == "endpoints.d/x.conf:1: Name=: endpoints.d/a.conf describes endpoint \"x\" already; choose another Name="
        )
    }
}
