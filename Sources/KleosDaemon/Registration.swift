import Glibc
import KleosConfig
import KleosModel
import KleosSupport
import KleosWire

extension Daemon {
    /// Games that may bring a catalog of their own to one daemon.
    private static let maximumRegistered = 1_000

    /// Takes a game's own catalog in: checks it, keeps it as a file, and reads the configuration again.
    func register(
        _ catalog: String, then completion: @escaping @Sendable (Result<RegisterAnswer, RPCError>) -> Void
    ) {
        do throws(RPCError) {
            let folder = try registrationFolder()
            let game = try checked(catalog)
            var answer = RegisterAnswer(
                game: game.id, state: .configured, leaderboards: game.leaderboards.count,
                achievements: game.achievements.count)
            let path = "\(folder)/\(game.id).conf"
            let old = kept(path)
            if old == nil, configuration.games[game.id] != nil { return completion(.success(answer)) }
            let bytes = Array(catalog.utf8)
            answer.state = .unchanged
            if old == bytes, configuration.games[game.id] != nil { return completion(.success(answer)) }
            try keep(bytes, at: path, in: folder)
            answer.state = .registered
            log(.notice, "a game brought its own catalog", ["game": game.id])
            reload { [answer] result in
                completion(result.map { _ in answer })
            }
        } catch {
            completion(.failure(error))
        }
    }

    private func registrationFolder() throws(RPCError) -> String {
        guard let folder = loader.sources.registeredFolder else {
            throw RPCError(
                .notPermitted, "the system's daemon takes no catalogs; its administrator puts games' files into games.d"
            )
        }
        guard !configuration.daemon.registeredEndpoints.isEmpty else {
            throw RPCError(
                .notPermitted,
                "this daemon takes no catalogs; RegisteredEndpoints= in its kleosd.conf says where events of such games go"
            )
        }
        return folder
    }

    private func checked(_ catalog: String) throws(RPCError) -> Game {
        do throws(ConfigurationErrors) {
            return try RegisteredGames.check(
                Array(catalog.utf8), kind: loader.sources.kind, destinations: configuration.daemon.registeredEndpoints)
        } catch {
            throw RPCError(.invalidParameter, error.description, field: "catalog")
        }
    }

    /// What the file at `path` holds; nil where there is none.
    private func kept(_ path: String) -> [UInt8]? {
        // What cannot be read is written anew.
        try? SmallFile.read(at: path, limitBytes: Limits.requestBytes)
    }

    private func keep(_ bytes: [UInt8], at path: String, in folder: String) throws(RPCError) {
        do throws(SystemError) {
            try Folder.make(folder)
            guard try Folder.names(in: folder).count < Self.maximumRegistered else {
                throw SystemError("keep more than \(Self.maximumRegistered) catalogs in \(folder)", code: ENOSPC)
            }
            try SmallFile.replace(path, with: bytes)
        } catch {
            log(.error, "a game's catalog cannot be kept: \(error)")
            throw RPCError(.internalError, "the catalog cannot be kept: \(error)")
        }
    }
}
