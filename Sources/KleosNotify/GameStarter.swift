import Glibc
import KleosModel
package import KleosSupport
package import KleosWire

/// Starts games whose notices players follow.
package enum GameStarter {
    /// Why a game was neither told nor started.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// Its file does not say what starts it.
        case unknown(game: String)
        case noDesktopFile(String)
        case system(SystemError)

        package var description: String {
            switch self {
            case .unknown(let game): "\(game) does not run, and its file does not say what starts it"
            case .noDesktopFile(let name): "there is no \(name) with a line Exec= among the applications"
            case .system(let error): error.description
            }
        }
    }

    /// Starts the game where the daemon could not tell it; returns what happened, in words. Throws `Failure`.
    package static func follow(_ answer: OpenNoticeAnswer, activationToken: String? = nil) throws(Failure) -> String {
        let notice = answer.notice
        if answer.isTold { return "\(notice.gameTitle) was in the \(answer.state) and shows it" }
        guard let program = answer.start.first else { throw .unknown(game: notice.gameTitle) }
        let command: [String]
        var folder: String?
        if program.hasPrefix("/") {
            command = answer.start
        } else {
            guard let text = desktopFile(program), let parsed = DesktopEntry.command(text) else {
                throw .noDesktopFile(program)
            }
            command = parsed
            folder = DesktopEntry.folder(text)
        }
        do throws(SystemError) {
            let input = try FileDescriptor.open("/dev/null", O_RDONLY | O_CLOEXEC)
            _ = try ProgramStart.start(
                command, environment: Environment.adding(environment(notice, activationToken)),
                files: (input.number, STDERR_FILENO, STDERR_FILENO), hasOwnGroup: true, folder: folder)
        } catch {
            throw .system(error)
        }
        return "\(notice.gameTitle) was started"
    }

    private static func environment(_ notice: NoticeRow, _ token: String?) -> [String: String] {
        var variables = ["KLEOS_EVENT": notice.key.description, "KLEOS_PLAYER": notice.player]
        variables[notice.kind == .score ? "KLEOS_LEADERBOARD" : "KLEOS_ACHIEVEMENT"] = notice.item
        if let token {
            variables["XDG_ACTIVATION_TOKEN"] = token
            // What the same is called under X11.
            variables["DESKTOP_STARTUP_ID"] = token
        }
        return variables
    }

    private static func desktopFile(_ name: String) -> String? {
        guard !name.contains("/") else { return nil }
        let home = Environment["XDG_DATA_HOME"] ?? Environment["HOME"].map { "\($0)/.local/share" }
        let system = (Environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share").split(separator: ":").map(
            String.init)
        for folder in [home].compactMap({ $0 }) + system {
            if let text = try? SmallFile.readText(at: "\(folder)/applications/\(name)") { return text }
        }
        return nil
    }
}
