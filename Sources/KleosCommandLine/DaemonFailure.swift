import Glibc
package import KleosClient
package import KleosSupport
package import KleosWire

/// What went wrong with the daemon, as the end of a command. Pure.
package enum DaemonFailure {
    /// No socket could be connected to.
    package static func unreachable(
        _ failures: [SystemError], socket: KleosSocketPaths.Socket
    ) -> CommandFailure {
        let tried = failures.map { "\n  \($0.description)" }.joined()
        if let denied = failures.first(where: { $0.code == EACCES || $0.code == EPERM }) {
            let hint =
                socket == .control
                ? "operating the queue is for the daemon's own user, root and the group kleos-admin"
                : "ask the administrator for access to the socket"
            return CommandFailure(.permission, denied.description, hint: hint, reason: "not-permitted")
        }
        return CommandFailure(
            .unavailable, "no kleos daemon answers; tried:\(tried)",
            hint: "start one (systemctl --user start kleosd, or kleosd --private DIR), or name its socket with "
                + "--socket PATH or KLEOS_SOCKET", reason: "no-daemon")
    }

    /// A conversation with the daemon failed.
    package static func failure(_ error: ConnectionError) -> CommandFailure {
        switch error {
        case .refused(let error): refusal(error)
        case .noDaemon: CommandFailure(.unavailable, error.description, reason: "no-daemon")
        case .closed:
            CommandFailure(
                .unavailable, error.description, hint: "run the command again; the daemon may be restarting",
                reason: "connection-closed")
        case .timedOut:
            CommandFailure(
                .temporary, error.description, hint: "kleos status and the daemon's log say what it is doing",
                reason: "timed-out")
        case .malformed:
            CommandFailure(
                .contract, error.description, hint: "kleos version compares the versions of both",
                reason: "malformed-answer")
        }
    }

    /// The daemon refused a request.
    package static func refusal(_ error: RPCError) -> CommandFailure {
        CommandFailure(
            code(error.knownReason), error.message, hint: hint(error.knownReason), reason: error.reason)
    }

    private static func code(_ reason: ErrorReason?) -> ExitCode {
        switch reason {
        case .notPermitted: .permission
        case .queueFull, .rateLimited, .tooManyConnections, .unavailable: .temporary
        case .reloadFailed: .configuration
        case .internalError: .software
        case .parseError, .invalidRequest, .unknownMethod, .idRequired: .contract
        case .invalidParameter, .unknownGame, .unknownLeaderboard, .unknownAchievement, .unknownEndpoint,
            .playerRequired, .playerNotAllowed, .invalidValue, .idConflict, .tooLarge, .notFound:
            .data
        case nil: .failure
        }
    }

    private static func hint(_ reason: ErrorReason?) -> String? {
        switch reason {
        case .notPermitted: "the game's file says who may submit; operating the queue is for the group kleos-admin"
        case .queueFull: "free disk space, or discard what is dead (kleos discard --state dead), and submit again"
        case .rateLimited, .tooManyConnections: "wait a moment and run the command again"
        case .unavailable: "run the command again in a moment"
        case .reloadFailed: "kleos config check shows every error with its file and line"
        case .internalError: "the daemon's log says more (journalctl -u kleosd)"
        case .unknownMethod: "the daemon is older than this kleos; kleos version shows both"
        case .unknownGame: "kleos config show lists the games that the configuration has"
        case .unknownEndpoint: "kleos status lists the endpoints"
        case .idConflict: "give another --id, or leave it out"
        case .notFound: "kleos list shows the keys"
        default: nil
        }
    }
}
