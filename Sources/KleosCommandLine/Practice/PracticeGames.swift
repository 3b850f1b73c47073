import Glibc
import KleosConfig
import KleosSupport

/// Gathers the games' files that a practice run takes.
enum PracticeGames {
    /// The last drop-in of every game, which sends its events to the practice endpoint.
    private static let redirection = "[Game]\nEndpoints=\nEndpoints=practice\nConfirms=first\n"

    /// The files by name relative to `games.d`. Throws a failure where there is none, or one cannot be read.
    static func files(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> [String: [UInt8]] {
        var files = try invocation.has("game") ? named(invocation.values("game")) : installed(invocation, session)
        let games = files.keys.filter { !$0.contains("/") }
        guard !games.isEmpty else {
            throw .usage("no game is configured here", hint: "name the game's file with --game FILE")
        }
        for name in games { files["\(name).d/zz-practice.conf"] = Array(redirection.utf8) }
        return files
    }

    private static func named(_ paths: [String]) throws(CommandFailure) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for path in paths {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            guard name.hasSuffix(".conf") else { throw .usage("\(path) is no game's file; their names end in .conf") }
            files[name] = try read(path)
        }
        return files
    }

    private static func installed(
        _ invocation: Invocation, _ session: Session
    ) throws(CommandFailure) -> [String: [UInt8]] {
        let sources = try ConfigurationChoice.sources(invocation, session)
        var files: [String: [UInt8]] = [:]
        for folder in sources.gameFolders + sources.folders.map({ "\($0)/games.d" }) {
            for name in try names(in: folder) {
                if name.hasSuffix(".conf") {
                    // A link to /dev/null stands for "as if there were no such file".
                    let bytes = try read("\(folder)/\(name)")
                    files[name] = bytes.isEmpty ? nil : bytes
                } else if name.hasSuffix(".conf.d") {
                    for part in try names(in: "\(folder)/\(name)") where part.hasSuffix(".conf") {
                        files["\(name)/\(part)"] = try read("\(folder)/\(name)/\(part)")
                    }
                }
            }
        }
        return files
    }

    private static func names(in folder: String) throws(CommandFailure) -> [String] {
        do throws(SystemError) {
            return try Folder.names(in: folder)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return [] }
            throw CommandFailure(.system, error.description)
        }
    }

    private static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        do throws(SystemError) {
            return try SmallFile.read(at: path)
        } catch {
            throw CommandFailure(.data, error.description)
        }
    }
}
