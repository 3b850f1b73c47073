import KleosConfig
import Testing

@Suite struct ChangeTests {
    private let home = "[Endpoint]\nURL=https://scores.example.org\nName=scores\nTokenFile=home.token\n"

    @Test func eachChangedSettingIsNamedOnce() throws {
        let folder = try ConfigurationFolder(["endpoints.d/home.conf": home])
        try folder.write("endpoints.d/home.token", "one", mode: 0o600)
        try folder.write("games.d/g.conf", "[Game]\nEndpoints=scores\n[Achievement a]\nPoints=5\n")
        let old = try folder.load()
        #expect(old.changes(from: old).isEmpty)
        try folder.write("kleosd.conf", "[Daemon]\nLogLevel=debug\n")
        try folder.write("endpoints.d/home.conf", "# moved by a line\n\(home)[Limits]\nInFlight=2\n")
        try folder.write("endpoints.d/home.token", "two", mode: 0o600)
        try folder.write("games.d/g.conf", "[Game]\nEndpoints=scores\nTitle[de]=Spiel\nTitle=Game\n")
        #expect(
            try folder.load().changes(from: old).map(\.description) == [
                "kleosd.conf [Daemon] LogLevel: \"info\" → \"debug\"",
                "games.d/g.conf [Game] Title: \"\" → \"Game\"",
                "games.d/g.conf [Game] Title[de]: unset → \"Spiel\"",
                "endpoints.d/home.conf [Endpoint] Token: \"(secret)\" → \"(secret)\"",
                "endpoints.d/home.conf [Limits] InFlight: \"8\" → \"2\"",
                "games.d/g.conf [Achievement a] Points: \"5\" → unset",
            ])
    }

    @Test func aTokenThatMovedWithoutChangingIsNoChange() throws {
        let folder = try ConfigurationFolder(["endpoints.d/home.conf": home])
        try folder.write("endpoints.d/home.token", "one", mode: 0o600)
        let old = try folder.load()
        try folder.write("endpoints.d/home.token", "one\n", mode: 0o400)
        #expect(try folder.load().changes(from: old).isEmpty)
    }
}
