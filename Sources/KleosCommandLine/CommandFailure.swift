/// How the program ends, in the numbers of sysexits.h.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// The daemon answered and refused, or some of what was asked for could not be done.
    case failure = 1
    /// The command line is wrong.
    case usage = 64
    /// The input is wrong: an unknown game, a value out of range, a key that nobody has.
    case data = 65
    /// No daemon answers.
    case unavailable = 69
    /// An error inside kleos.
    case software = 70
    /// Something on this machine failed.
    case system = 71
    /// Not now; the same command may work later.
    case temporary = 75
    /// The daemon talks in a way that kleos does not understand.
    case contract = 76
    /// Not permitted.
    case permission = 77
    /// The configuration is wrong.
    case configuration = 78
}

/// What ends a command: a sentence, what to do next, and the exit code.
package struct CommandFailure: Error, Sendable, Equatable {
    package var code: ExitCode
    /// What happened, to what.
    package var message: String
    /// What to do next.
    package var hint: String?
    /// The stable reason, where a daemon gave one.
    package var reason: String?

    /// Makes a failure from its parts.
    package init(_ code: ExitCode, _ message: String, hint: String? = nil, reason: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.reason = reason
    }

    /// A wrong command line.
    package static func usage(_ message: String, hint: String? = nil) -> CommandFailure {
        CommandFailure(.usage, message, hint: hint)
    }
}
