/// How the program ends, in the numbers of sysexits.h.
package struct ExitCode: Sendable, Equatable {
    /// 0 … 255.
    package let rawValue: Int32

    /// Takes a number that somebody else chose, such as a command that was run.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package static let success = ExitCode(rawValue: 0)
    /// The daemon answered and refused, or some of what was asked for could not be done.
    package static let failure = ExitCode(rawValue: 1)
    /// `status --check` found what needs somebody.
    package static let critical = ExitCode(rawValue: 2)
    /// The command line is wrong.
    package static let usage = ExitCode(rawValue: 64)
    /// The input is wrong: an unknown game, a value out of range, a key that nobody has.
    package static let data = ExitCode(rawValue: 65)
    /// No daemon answers.
    package static let unavailable = ExitCode(rawValue: 69)
    /// An error inside kleos.
    package static let software = ExitCode(rawValue: 70)
    /// Something on this machine failed.
    package static let system = ExitCode(rawValue: 71)
    /// Not now; the same command may work later.
    package static let temporary = ExitCode(rawValue: 75)
    /// The daemon talks in a way that kleos does not understand.
    package static let contract = ExitCode(rawValue: 76)
    /// Not permitted.
    package static let permission = ExitCode(rawValue: 77)
    /// The configuration is wrong.
    package static let configuration = ExitCode(rawValue: 78)
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
