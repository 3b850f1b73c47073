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

    /// Runs a command line; `input` is standard input, and a terminal where `isTerminal` says so. With `pauses` it
    /// comes line by line, and what was printed until then is noted before each.
    init(
        _ arguments: [String], input: String = "", isTerminal: Bool = false, environment: [String: String] = [:],
        pauses: Pauses? = nil
    ) {
        let recorder = Recorder(input: input)
        let terminal = Terminal(
            write: { text in recorder.output.withLock { $0 += text } },
            writeError: { text in recorder.errors.withLock { $0 += text } },
            read: { (limit: Int) throws(CommandFailure) in
                pauses?.note(recorder.output.withLock { $0 })
                return recorder.rest.withLock { rest in
                    let line = (rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex - 1) + 1
                    let part = pauses == nil ? rest.prefix(limit) : rest[..<line]
                    rest = rest[part.endIndex...]
                    return Array(part)
                }
            },
            isInputTerminal: isTerminal, isOutputTerminal: isTerminal, environment: { environment[$0] })
        code = KleosProgram.run(arguments, terminal: terminal, clock: Self.clock)
        self.output = recorder.output.withLock { $0 }
        self.errors = recorder.errors.withLock { $0 }
    }

    /// What was printed whenever a command asked for more input.
    final class Pauses: Sendable {
        private let noted = Mutex<[String]>([])

        var outputs: [String] { noted.withLock { $0 } }

        func note(_ output: String) { noted.withLock { $0.append(output) } }
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
