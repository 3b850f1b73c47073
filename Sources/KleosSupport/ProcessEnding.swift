/// How a child process ended.
package enum ProcessEnding: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)

    /// Reads what waitpid(2) gave for a child that ended.
    package init(waitStatus status: Int32) {
        // WIFEXITED and its like are macros that Swift does not see.
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }
}
