package import KleosModel
import KleosSupport

/// Games that brought their own catalog over the socket: files as in `games.d`, with less in them.
///
/// Such a file comes from a game, which may run in a container and be allowed nothing else: it says what there is to be
/// won, and never where events go, who may submit, or what is run.
package enum RegisteredGames {
    /// What such a file may say.
    static let definition = FileDefinition(
        name: "registered.d/*.conf",
        documentation: "A game's own catalog.",
        sections: [
            SectionDefinition(
                name: "Game", argument: nil, documentation: "The game.",
                settings: [
                    GameFile.id.definition, GameFile.title.definition, GameFile.player.definition,
                    GameFile.noticeKinds.definition, GameFile.minimumRank.definition,
                    GameFile.openLabel.definition,
                ],
                refusals: Dictionary(
                    uniqueKeysWithValues: [
                        "Endpoints", "Confirms", "Players", "AllowUsers", "AllowGroups", "AllowUnits", "Notices",
                        "Start",
                    ]
                    .map { ($0, "is for a file in games.d, not for a game's own catalog") }))
        ] + GameFile.definition.sections.filter { $0.argument != nil })

    /// The games in `folder` whose ids are not among `configured`; a file with errors is left out, with a warning, so
    /// that no game can keep a configuration from being read.
    static func read(
        _ files: ConfigurationFiles, reader: (LoadReport) -> GameReader, endpoints: [LoadedEndpoint],
        configured: Set<String>, destinations: [String], report: LoadReport
    ) -> [Game] {
        files.registeredFiles().compactMap { name, parse in
            let own = LoadReport()
            guard let file = parse(own) else {
                report.warnings += own.problems
                return nil
            }
            let loaded = reader(own).read(file, fileName: name, destinations: destinations)
            guard !configured.contains(loaded.game.id) else { return nil }
            CombinationRules(games: [loaded], endpoints: endpoints).checkGames()
            if destinations.isEmpty {
                own.problem(
                    file.path, nil, "is left out, because RegisteredEndpoints= in kleosd.conf names no endpoint")
            }
            guard own.problems.isEmpty else {
                report.warnings += own.problems
                return nil
            }
            report.settings += own.settings
            return loaded.game
        }
    }

    /// The game that a catalog describes, for people to be told what is wrong with it. Throws all that is.
    package static func check(
        _ text: [UInt8], kind: DaemonKind, destinations: [String]
    ) throws(ConfigurationErrors) -> Game {
        let report = LoadReport()
        let parsed = UnitFileParser.parse(text, path: "catalog")
        report.problems += parsed.problems
        let file = SettingsFile(
            logicalName: "catalog", parts: [parsed.file], definition: definition, report: report)
        if SectionReader(file, "Game", report).value(GameFile.id).isEmpty {
            report.problem("catalog", nil, "[Game] needs Id=")
        }
        let loaded = GameReader(kind: kind, accounts: SystemAccounts(), report: report)
            .read(file, fileName: "", destinations: destinations)
        guard report.problems.isEmpty else { throw ConfigurationErrors(problems: report.problems) }
        return loaded.game
    }
}
