import Glibc
import KleosConfig
import KleosModel
import KleosSupport
import Testing

@Suite struct SourceTests {
    private static let endpoint = "[Endpoint]\nURL=https://scores.example.org\n"

    @Test func nothingAtAllIsTheDefaults() throws {
        let configuration = try ConfigurationFolder([:]).load()
        #expect(configuration.daemon == DaemonSettings())
        #expect(configuration.games.isEmpty && configuration.endpoints.isEmpty && configuration.warnings.isEmpty)
        #expect(configuration.settings.allSatisfy { $0.source == .standard })
    }

    /// Who is no operator of the machine may still run a daemon of their own on it.
    @Test func operatorsOfTheMachineAreNoneOfADaemonInAFolderUnlessItSaysSo() throws {
        let plain = try ConfigurationFolder([:])
        #expect(try plain.load(kind: .system, folders: ["."]).daemon.controlGID == 991)
        #expect(try plain.load(kind: .user, folders: ["."]).daemon.controlGID == nil)
        #expect(try plain.load(kind: .privateFolder, folders: ["."]).daemon.controlGID == nil)
        let told = try ConfigurationFolder(["kleosd.conf": "[Daemon]\nControlGroup=kleos-admin\n"])
        #expect(try told.load(kind: .user, folders: ["."]).daemon.controlGID == nil)
        #expect(try told.load(kind: .privateFolder, folders: ["."]).daemon.controlGID == 991)
    }

    @Test func anEndpointOfItsAddressAloneHasTheDefaults() throws {
        let configuration = try ConfigurationFolder(["endpoints.d/home.conf": Self.endpoint]).load()
        #expect(configuration.endpoints == ["home": Endpoint(name: "home", url: "https://scores.example.org")])
    }

    @Test func gameOfItsEndpointsAloneHasTheDefaults() throws {
        let folder = try ConfigurationFolder([
            "endpoints.d/home.conf": Self.endpoint,
            "games.d/g.conf": "[Game]\nEndpoints=home\n[Leaderboard b]\n[Achievement a]\n",
        ])
        let expected = Game(
            id: "g", endpoints: ["home"], leaderboards: [Leaderboard(id: "b")], achievements: [Achievement(id: "a")])
        #expect(try folder.load().games == ["g": expected])
        var system = expected
        system.permission.gids = [990]
        #expect(try folder.load(kind: .system, folders: ["."]).games == ["g": system])
    }

    @Test func aGameNamesTheActionOfItsNotices() throws {
        let folder = try ConfigurationFolder([
            "endpoints.d/home.conf": Self.endpoint,
            "games.d/g.conf": "[Game]\nEndpoints=home\nOpenLabel=Play\nOpenLabel[de]=Spielen\n",
        ])
        #expect(
            try folder.load().games["g"]?.openLabel == LocalizedText("Play", translations: ["de": "Spielen"]))
    }

    @Test func laterFoldersReplaceFilesAndLinksToNullMaskThem() throws {
        let folder = try ConfigurationFolder([
            "usr/endpoints.d/home.conf": Self.endpoint,
            "usr/endpoints.d/gone.conf": Self.endpoint,
            "usr/games.d/g.conf": "[Game]\nEndpoints=home gone\nTitle=shipped\n",
            "usr/kleosd.conf": "[Daemon]\nLogLevel=debug\n[Limits]\nMaximumConnections=5\n",
            "etc/games.d/g.conf": "[Game]\nEndpoints=home\n",
            "etc/kleosd.conf": "[Daemon]\nLogLevel=error\n",
        ])
        try folder.mask("etc/endpoints.d/gone.conf")
        let configuration = try folder.load(kind: .system, folders: ["usr", "etc"])
        #expect(configuration.daemon.logLevel == .error)
        #expect(configuration.daemon.limits.maximumConnections == 1_024)
        #expect(configuration.games["g"]?.endpoints == ["home"])
        #expect(configuration.games["g"]?.title.standard == "g")
        #expect(configuration.endpoints.keys.sorted() == ["home"])
    }

    @Test func dropInsOfAllFoldersApplyInTheOrderOfTheirNames() throws {
        let folder = try ConfigurationFolder([
            "usr/endpoints.d/home.conf": "[Endpoint]\nURL=https://a.example\n[Retry]\nCap=7s\n[Limits]\nInFlight=1\n",
            "usr/endpoints.d/home.conf.d/50-x.conf": "[Limits]\nInFlight=2\n",
            "usr/endpoints.d/home.conf.d/60-masked.conf": "[Limits]\nInFlight=4\n",
            "etc/endpoints.d/home.conf.d/10-y.conf": "[Limits]\nInFlight=3\nRequestsPerMinute=7\n",
            "etc/endpoints.d/home.conf.d/70-cap.conf": "[Retry]\nCap=\n",
            "etc/endpoints.d/home.conf.d/notes.txt": "not read",
            "etc/kleosd.conf.d/a.conf": "[Daemon]\nLogLevel=debug\n",
        ])
        try folder.mask("etc/endpoints.d/home.conf.d/60-masked.conf")
        let configuration = try folder.load(kind: .system, folders: ["usr", "etc"])
        let home = try #require(configuration.endpoints["home"])
        #expect(home.maximumInFlight == 2 && home.requestsPerMinute == 7 && home.retry.capMilliseconds == 3_600_000)
        #expect(configuration.daemon.logLevel == .debug)
        let setting = configuration.settings.first { $0.key == "InFlight" }
        #expect(setting?.source.description == folder.path("usr/endpoints.d/home.conf.d/50-x.conf:2"))
        #expect(setting?.value == "2" && setting?.file == "endpoints.d/home.conf" && setting?.section == "Limits")
        #expect(configuration.settings.first { $0.key == "Cap" }?.source == .standard)
    }

    @Test func listsAddUpUntilAnEmptyAssignment() throws {
        let folder = try ConfigurationFolder([
            "endpoints.d/a.conf": Self.endpoint, "endpoints.d/b.conf": Self.endpoint,
            "endpoints.d/c.conf": Self.endpoint,
            "games.d/g.conf": "[Game]\nEndpoints=a\nEndpoints=b\nAllowGroups=\n",
            "games.d/h.conf": "[Game]\nEndpoints=a b\n",
            "games.d/h.conf.d/x.conf": "[Game]\nEndpoints=\nEndpoints=c\nAllowGroups=players 77\n",
        ])
        let games = try folder.load(kind: .system, folders: ["."]).games
        #expect(games["g"]?.endpoints == ["a", "b"])
        #expect(games["g"]?.permission == SubmitPermission())
        #expect(games["h"]?.endpoints == ["c"])
        #expect(games["h"]?.permission.gids == [2_000, 77])
    }

    @Test func dropInsOfNoFileAreWarnedAbout() throws {
        let folder = try ConfigurationFolder(["games.d/lost.conf.d/a.conf": "[Game]\nTitle=x\n"])
        let configuration = try folder.load()
        #expect(
            configuration.warnings.map(\.description)
                == [
                    "\(folder.path("games.d/lost.conf.d")): has no effect, because there is no lost.conf that it could change"
                ])
    }

    @Test func gamesComeFromTheirOwnFolderToo() throws {
        let folder = try ConfigurationFolder([
            "conf/endpoints.d/home.conf": Self.endpoint,
            "data/games.d/g.conf": "[Game]\nEndpoints=home\nTitle=data\n",
            "data/games.d/h.conf": "[Game]\nEndpoints=home\n",
            "conf/games.d/g.conf": "[Game]\nEndpoints=home\nTitle=config\n",
        ])
        let games = try folder.load(kind: .user, folders: ["conf"], gameFolders: ["data/games.d"]).games
        #expect(games["g"]?.title.standard == "config")
        #expect(games["h"] != nil)
    }

    @Test func aPrivateDaemonReadsTheFolderConfigWhereThereIsOne() throws {
        let folder = try ConfigurationFolder(["kleosd.conf": "[Daemon]\nLogLevel=debug\n"])
        #expect(ConfigurationSources.only(folder.path).folders == [folder.path])
        try folder.write("config/kleosd.conf", "")
        #expect(ConfigurationSources.only(folder.path).folders == [folder.path("config")])
    }

    @Test func aPrivateFolderHasToExist() throws {
        let loader = ConfigurationLoader(sources: .only("/nonexistent/kleos"), daemonUID: 0)
        let errors = #expect(throws: ConfigurationErrors.self) { try loader.load() }
        #expect(
            errors?.description.hasPrefix(
                "/nonexistent/kleos: cannot list /nonexistent/kleos: No such file or directory") == true)
    }

    @Test func whatIsNoFileIsNotRead() throws {
        let folder = try ConfigurationFolder(["games.d/.hidden.conf": "nonsense", "games.d/g.conf~": "nonsense"])
        #expect(folder.problems() == "")
        #expect(mkfifo(folder.path("games.d/pipe.conf"), 0o600) == 0)
        #expect(folder.problems().contains("pipe.conf, which is no regular file: Invalid argument"))
    }

    @Test("an installed program takes the files that were installed with it, and in a home those beside the user's own")
    func shippedFolder() {
        func folder(_ program: String?, _ present: String...) -> String {
            ConfigurationSources.shippedFolder(program: program) { present.contains($0) }
        }
        #expect(folder("/usr/bin", "/usr/share/kleos/endpoints.d") == "/usr/share/kleos")
        #expect(folder("/usr/local/bin", "/usr/local/share/kleos/endpoints.d") == "/usr/local/share/kleos")
        #expect(folder("/usr/local/bin") == "/usr/share/kleos")
        let home = "/home/mira/.local"
        #expect(
            folder("\(home)/bin", "\(home)/share/kleos/shipped/endpoints.d", "\(home)/share/kleos/endpoints.d")
                == "\(home)/share/kleos/shipped")
        #expect(folder("/src/kleos/.build/debug", "/src/kleos/.build/share/kleos/endpoints.d") == "/usr/share/kleos")
        #expect(folder(nil) == "/usr/share/kleos")
    }

    @Test func shippedFilesAreGood() throws {
        let loader = ConfigurationLoader(
            sources: ConfigurationSources(kind: .system, folders: ["\(ShippedFiles.root)/config"]),
            accounts: FixedAccounts(), daemonUID: 990)
        let configuration = try loader.load()
        #expect(configuration.warnings.isEmpty)
        #expect(configuration.endpoints.keys.sorted() == ["home", "practice"])
    }
}
