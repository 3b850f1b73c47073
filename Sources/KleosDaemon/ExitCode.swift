import KleosStore

/// What the daemon's end means, in the numbers of sysexits.h.
enum ExitCode: Int32, Sendable {
    case success = 0
    /// EX_USAGE: the command line is wrong.
    case usage = 64
    /// EX_UNAVAILABLE: another daemon runs, or a socket cannot be had.
    case unavailable = 69
    /// EX_IOERR: the queue cannot be opened, read or written.
    case storage = 74
    /// EX_NOPERM: a folder or file must not be used by this user.
    case permission = 77
    /// EX_CONFIG: the configuration has errors.
    case configuration = 78

    /// The code for a store that cannot be opened or went bad.
    init(_ error: StoreError) {
        switch error.kind {
        case .locked: self = .unavailable
        case .unwritable: self = .permission
        default: self = .storage
        }
    }
}

/// Why the daemon cannot start.
struct StartError: Error {
    let code: ExitCode
    let message: String
}
