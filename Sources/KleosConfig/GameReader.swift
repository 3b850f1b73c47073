import KleosModel

/// A game with the means to say where its settings stand.
struct LoadedGame {
    var game: Game
    let section: SectionReader
    var boards: [(id: String, section: SectionReader)] = []
}

/// Reads games' files.
struct GameReader {
    let kind: DaemonKind
    let accounts: any AccountResolver
    let report: LoadReport

    /// The game that `file` describes, `destinations` being its endpoints where the file itself may name none; problems
    /// are reported, and what they concern is at its default.
    func read(_ file: SettingsFile, fileName: String, destinations: [String]? = nil) -> LoadedGame {
        let section = SectionReader(file, "Game", report)
        var game = Game(id: section.value(GameFile.id, standard: fileName))
        if let complaint = IdentifierRules.complaint(aboutName: game.id) {
            section.problem(GameFile.id.key, complaint)
        }
        game.title = section.localizedText(GameFile.title) ?? LocalizedText(game.id)
        game.endpoints = destinations ?? section.value(GameFile.endpoints)
        game.confirms = confirms(section.value(GameFile.confirms))
        readPlayers(&game, section)
        // A game's own catalog permits nobody else.
        if destinations == nil { game.permission = permission(section) }
        game.notices = notices(section)
        game.start = section.value(GameFile.start)
        game.openLabel = section.localizedText(GameFile.openLabel)
        if let program = game.start.first, !program.hasPrefix("/"),
            game.start.count > 1 || !program.hasSuffix(".desktop")
        {
            section.problem(GameFile.start.key, "expected the name of a .desktop file alone, or a program's whole path")
        }
        var loaded = LoadedGame(game: game, section: section)
        for section in file.sections where !section.argument.isEmpty {
            readItem(&loaded, SectionReader(file, section, report))
        }
        return loaded
    }

    private func confirms(_ text: String) -> ConfirmRule {
        switch text {
        case "first": .first
        case "all": .all
        default: .endpoint(text)
        }
    }

    private func readPlayers(_ game: inout Game, _ section: SectionReader) {
        let player = section.value(GameFile.player)
        let players = section.value(GameFile.players)
        game.player = player.isEmpty ? nil : player
        game.allowedPlayers = players.isEmpty ? nil : Set(players)
        if let complaint = IdentifierRules.complaint(aboutPlayer: player) {
            section.problem(GameFile.player.key, complaint)
        }
        for complaint in players.compactMap(IdentifierRules.complaint(aboutPlayer:)).prefix(1) {
            section.problem(GameFile.players.key, complaint)
        }
        if !player.isEmpty, !players.isEmpty, !ExactText.contains(players, player) {
            section.problem(GameFile.player.key, "Players= does not list this player")
        }
    }

    private func permission(_ section: SectionReader) -> SubmitPermission {
        var permission = SubmitPermission()
        let users = section.value(GameFile.allowUsers)
        permission.isOpen = users.contains("*")
        permission.uids = AccountNames.resolve(
            users.filter { $0 != "*" }, key: GameFile.allowUsers.key, section: section,
            unknown: AccountNames.unknownUser, lookUp: accounts.uid(ofUser:))
        let standardGroup = kind == .system ? "kleos" : ""
        let groups = section.value(GameFile.allowGroups, standard: standardGroup)
        if section.isSet(GameFile.allowGroups) {
            permission.gids = AccountNames.resolve(
                groups, key: GameFile.allowGroups.key, section: section, unknown: AccountNames.unknownGroup,
                lookUp: accounts.gid(ofGroup:))
        } else {
            permission.gids = Set(groups.compactMap(accounts.gid(ofGroup:)))
        }
        permission.units = section.value(GameFile.allowUnits)
        for unit in permission.units
        where !unit.hasSuffix("*") && !unit.hasSuffix(".service") && !unit.hasSuffix(".scope") {
            section.problem(
                GameFile.allowUnits.key,
                "\"\(unit.shortened)\" is no unit with processes; those end in .service or .scope")
        }
        return permission
    }

    private func notices(_ section: SectionReader) -> NoticeSettings {
        var settings = NoticeSettings(audience: section.value(GameFile.notices), kinds: [])
        let names = SubjectKind.allCases.map(\.rawValue)
        for name in section.value(GameFile.noticeKinds) {
            if let kind = SubjectKind(rawValue: name) {
                settings.kinds.insert(kind)
            } else {
                section.problem(
                    GameFile.noticeKinds.key,
                    "\"\(name.shortened)\" is not \(names.alternatives)\(Hint.nearest(to: name, in: names))")
            }
        }
        settings.minimumRank = section.value(GameFile.minimumRank).map(Int64.init)
        return settings
    }

    private func readItem(_ loaded: inout LoadedGame, _ section: SectionReader) {
        let id = section.section.argument
        if let complaint = IdentifierRules.complaint(aboutItem: id) {
            report.problem(section.section.file, section.section.line, "[\(section.section.title)]: \(complaint)")
            return
        }
        if section.section.name == "Leaderboard" {
            loaded.game.leaderboards[id] = leaderboard(id, section)
            loaded.boards.append((id, section))
        } else {
            loaded.game.achievements[id] = achievement(id, section)
        }
    }

    private func leaderboard(_ id: String, _ section: SectionReader) -> Leaderboard {
        var board = Leaderboard(id: id)
        board.title = section.localizedText(GameFile.boardTitle) ?? board.title
        board.order = section.value(GameFile.order)
        board.keep = section.value(GameFile.keep)
        board.format = section.value(GameFile.format)
        board.decimals = section.value(GameFile.decimals)
        if board.format == .milliseconds && board.decimals > 0 {
            section.problem(GameFile.decimals.key, "milliseconds are whole; use Format=seconds for decimals")
        }
        board.minimum = score(GameFile.minimum, board, section)
        board.maximum = score(GameFile.maximum, board, section)
        if let minimum = board.minimum, let maximum = board.maximum, maximum < minimum {
            section.problem(GameFile.maximum.key, "is less than Minimum=\(minimum)")
        }
        return board
    }

    private func score(_ setting: Setting<String>, _ board: Leaderboard, _ section: SectionReader) -> ScoreValue? {
        let text = section.value(setting)
        guard !text.isEmpty else { return nil }
        do throws(ScoreValue.ParseError) {
            return try ScoreValue(text: text, decimals: board.decimals)
        } catch {
            let message =
                switch error {
                case .notANumber: "expected a number"
                case .tooManyDecimals: "has more decimals than Decimals=\(board.decimals) allows"
                case .outOfRange: "is beyond 64 bits"
                }
            section.problem(setting.key, message)
            return nil
        }
    }

    private func achievement(_ id: String, _ section: SectionReader) -> Achievement {
        var achievement = Achievement(id: id)
        achievement.title = section.localizedText(GameFile.achievementTitle) ?? achievement.title
        achievement.description = section.localizedText(GameFile.achievementDescription)
        achievement.points = section.value(GameFile.points)
        achievement.isHidden = section.value(GameFile.hidden)
        achievement.steps = section.value(GameFile.steps).map(Int64.init)
        return achievement
    }
}
