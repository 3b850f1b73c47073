import KleosModel

/// `games.d/*.conf`: what such a file may say.
package enum GameFile {
    static let id = Setting(
        "Id", .text("a name"), standard: "", standardNote: "the file's name without .conf",
        "What the game calls itself.")
    static let title = Setting(
        "Title", .text(), standard: "", standardNote: "the id", shape: .translated, "What people call the game.")
    static let endpoints = Setting(
        "Endpoints", .words("names"), standard: "", shape: .list, isRequired: true,
        "The endpoints that each event goes to, by name.")
    static let confirms = Setting(
        "Confirms", .text("first, all or a name"), standard: "first",
        "Whose confirmation counts before the player is told: that of the first endpoint listed, of all, or of the "
            + "endpoint named here.")
    static let player = Setting(
        "Player", .text("a player"), standard: "", "The player of events that name none. Without it they must name one."
    )
    static let players = Setting(
        "Players", .words("players"), standard: "", standardNote: "any player", shape: .list,
        "The players that events may name; those with spaces in quotation marks.")
    static let allowUsers = Setting(
        "AllowUsers", .words("users"), standard: "", shape: .list,
        "The users who may submit for the game, by name or number; * for everyone. Root and the daemon's own user "
            + "always may.")
    static let allowGroups = Setting(
        "AllowGroups", .words("groups"), standard: "", standardNote: "kleos for the system service, else nobody",
        shape: .list,
        "The groups whose members may submit for the game, by name or number.")
    static let allowUnits = Setting(
        "AllowUnits", .words("units"), standard: "", standardNote: "any process", shape: .list,
        "The systemd units from which those users may submit, such as game.service or app-*.scope, where * stands for "
            + "any text. Root may from anywhere.")
    static let notices = Setting(
        "Notices", ValueReader<NoticeAudience>.enumeration, standard: "current-player",
        "Whose notices are shown: the player's who is playing now, those of all, or none.")
    static let noticeKinds = Setting(
        "NoticeKinds", .words("score, achievement or both"), standard: "score achievement", shape: .list,
        "The kinds of event that make a notice: score, achievement.")
    static let minimumRank = Setting(
        "MinimumRank", ValueReader.integer(1...1_000_000_000).orInfinity(), standard: "infinity",
        "Scores ranked worse than this make no notice.")

    static let start = Setting(
        "Start", .words("a .desktop file's name, or a path and arguments"), standard: "",
        "What starts the game when a player follows a notice and the game does not run: the name of its .desktop file, "
            + "or a program's whole path and its arguments.")
    static let openLabel = Setting(
        "OpenLabel", .text(), standard: "", standardNote: "Open and the title", shape: .translated,
        "What is written on the action of a notice that leads to the game.")

    static let order = Setting(
        "Order", ValueReader<SortOrder>.enumeration, standard: "descending",
        "Which scores are the better: ascending (lower) or descending (higher).")
    static let keep = Setting(
        "Keep", ValueReader<KeepRule>.enumeration, standard: "best",
        "What counts of a player's scores: the best, the latest, every one as an entry of its own, or their sum.")
    static let format = Setting(
        "Format", ValueReader<ScoreFormat>.enumeration, standard: "number",
        "How a score is shown: as a number, or as a time from milliseconds or seconds.")
    static let decimals = Setting(
        "Decimals", .integer(0...ScoreValue.maximumDecimals), standard: "0", "Digits after a score's decimal point.")
    static let minimum = Setting("Minimum", .text("a score"), standard: "", "The least score that is accepted.")
    static let maximum = Setting("Maximum", .text("a score"), standard: "", "The greatest score that is accepted.")
    static let boardTitle = Setting(
        "Title", .text(), standard: "", standardNote: "the id", shape: .translated, "What people call the leaderboard.")

    static let achievementTitle = Setting(
        "Title", .text(), standard: "", standardNote: "the id", shape: .translated, "What people call the achievement.")
    static let achievementDescription = Setting(
        "Description", .text(), standard: "", shape: .translated, "What has to be done for it.")
    static let points = Setting("Points", .integer(0...1_000_000), standard: "0", "What it is worth.")
    static let hidden = Setting(
        "Hidden", .boolean, standard: "no", "Whether its description stays secret until it is unlocked.")
    static let steps = Setting(
        "Steps", ValueReader.integer(1...Int(Int32.max)).orNothing(), standard: "",
        "How many steps unlock it, where it is counted in steps.")

    /// What such a file may say.
    package static let definition = FileDefinition(
        name: "games.d/*.conf",
        documentation: "One file for each game: who may submit, where its events go, its catalog.",
        sections: [
            SectionDefinition(
                name: "Game", argument: nil, documentation: "The game.",
                settings: [
                    id.definition, title.definition, endpoints.definition, confirms.definition, player.definition,
                    players.definition, allowUsers.definition, allowGroups.definition,
                    allowUnits.definition, notices.definition, noticeKinds.definition, minimumRank.definition,
                    start.definition, openLabel.definition,
                ]),
            SectionDefinition(
                name: "Leaderboard", argument: "ID", documentation: "A leaderboard of the game.",
                settings: [
                    boardTitle.definition, order.definition, keep.definition, format.definition, decimals.definition,
                    minimum.definition, maximum.definition,
                ]),
            SectionDefinition(
                name: "Achievement", argument: "ID", documentation: "An achievement of the game.",
                settings: [
                    achievementTitle.definition, achievementDescription.definition, points.definition,
                    hidden.definition, steps.definition,
                ]),
        ])
}
