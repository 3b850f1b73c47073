import KleosCommandLine
import KleosSupport
import KleosTestSupport
import Synchronization

/// One run of the program with everything it printed.
struct CommandRun {
    let code: Int32
    let output: String
    let errors: String

    /// The clock of all runs: 2026-11-30T00:00:00Z.
    static let clock = ManualClock()

    /// Runs a command line; `input` is standard input, and a terminal where `isTerminal` says so.
    init(
        _ arguments: [String], input: String = "", isTerminal: Bool = false, environment: [String: String] = [:]
    ) {
        let recorder = Recorder(input: input)
        let terminal = Terminal(
            write: { text in recorder.output.withLock { $0 += text } },
            writeError: { text in recorder.errors.withLock { $0 += text } },
            read: { (limit: Int) throws(CommandFailure) in
                recorder.rest.withLock { rest in
                    defer { rest = rest.dropFirst(limit) }
                    return Array(rest.prefix(limit))
                }
            },
            isInputTerminal: isTerminal, isOutputTerminal: isTerminal, environment: { environment[$0] })
        code = KleosProgram.run(arguments, terminal: terminal, clock: Self.clock)
        self.output = recorder.output.withLock { $0 }
        self.errors = recorder.errors.withLock { $0 }
    }

    private final class Recorder: Sendable {
        let output = Mutex("")
        let errors = Mutex("")
        let rest: Mutex<ArraySlice<UInt8>>

        init(input: String) {
            rest = Mutex(Array(input.utf8)[...])
        }
    }
}
