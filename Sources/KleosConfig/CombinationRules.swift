import KleosModel

/// Checks of settings against each other across files.
struct CombinationRules {
    let games: [LoadedGame]
    let endpoints: [LoadedEndpoint]

    /// Reports all combinations that cannot work.
    func check() {
        checkUniqueness(endpoints.map { ($0.endpoint.name, $0.section) }, key: EndpointFile.name.key, noun: "endpoint")
        checkUniqueness(games.map { ($0.game.id, $0.section) }, key: GameFile.id.key, noun: "game")
        checkGames()
    }

    /// Reports what cannot work between each game and its endpoints.
    func checkGames() {
        for game in games {
            checkEndpoints(of: game)
            checkConfirmation(of: game)
            for board in game.boards { checkKeep(board.id, board.section, of: game) }
        }
    }

    private func checkUniqueness(_ names: [(String, SectionReader)], key: String, noun: String) {
        var owners: [String: String] = [:]
        for (name, section) in names {
            if let owner = owners[name] {
                section.problem(key, "\(owner) describes \(noun) \"\(name)\" already; choose another \(key)=")
            }
            owners[name] = section.section.file
        }
    }

    private func checkEndpoints(of game: LoadedGame) {
        let known = endpoints.map(\.endpoint.name)
        var seen: Set<String> = []
        if game.game.endpoints.isEmpty, game.section.isSet(GameFile.endpoints) {
            game.section.problem(GameFile.endpoints.key, "events of the game would go nowhere; name an endpoint")
        }
        for name in game.game.endpoints {
            if !known.contains(name) {
                let hint =
                    known.isEmpty
                    ? "; describe it in \(EndpointFile.logicalName(name.shortened))" : Hint.nearest(to: name, in: known)
                game.section.problem(
                    GameFile.endpoints.key, "there is no endpoint \"\(name.shortened)\"\(hint)")
            }
            if !seen.insert(name).inserted {
                game.section.problem(GameFile.endpoints.key, "\"\(name.shortened)\" is listed twice")
            }
        }
    }

    private func checkConfirmation(of game: LoadedGame) {
        guard case .endpoint(let name) = game.game.confirms, !game.game.endpoints.contains(name) else { return }
        let choices = ["first", "all"] + game.game.endpoints
        game.section.problem(
            GameFile.confirms.key,
            "expected first, all or an endpoint that Endpoints= lists\(Hint.nearest(to: name, in: choices))")
    }

    /// A service that keeps the best, or the last, of what it gets cannot keep anything else of a player's scores.
    private func checkKeep(_ id: String, _ section: SectionReader, of game: LoadedGame) {
        guard let keep = game.game.leaderboards[id]?.keep else { return }
        for name in game.game.endpoints {
            guard let endpoint = endpoints.first(where: { $0.endpoint.name == name })?.endpoint else { continue }
            let reason: String? =
                switch (endpoint.resend, keep) {
                case (.keepsBest, .sum), (.keepsBest, .every), (.keepsBest, .latest): "keeps only the best score"
                case (.lastWrite, .sum), (.lastWrite, .every): "keeps only the last score"
                default: nil
                }
            guard let reason else { continue }
            section.problem(
                GameFile.keep.key,
                "endpoint \"\(name)\" \(reason) (Resend=\(endpoint.resend.rawValue)); use Keep=best or another endpoint"
            )
        }
    }
}
