import Glibc
import KleosModel
import KleosSupport

/// The program `kleos-minesweeper`.
package enum MinesweeperProgram {
    /// Runs with the arguments that follow the program's name; returns the exit code (sysexits.h).
    package static func run(_ arguments: [String]) -> Int32 {
        do throws(MinesweeperOptions.UsageError) {
            let options = try MinesweeperOptions(arguments: arguments)
            if options.wantsHelp { return finish(printing: MinesweeperUsage.usage.help) }
            if options.wantsVersion { return finish(printing: "kleos-minesweeper \(ProgramVersion.text)\n") }
            return options.goal == nil ? playByHand(options) : playAutomatically(options)
        } catch {
            return fail(EX_USAGE, error.message)
        }
    }

    private static func playByHand(_ options: MinesweeperOptions) -> Int32 {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, Environment["TERM"] ?? "dumb" != "dumb" else {
            return fail(EX_USAGE, "there is no terminal to play in; --auto GAMES lets the computer play")
        }
        do throws(SystemError) {
            return try PlayLoop(options).run()
        } catch {
            return fail(EX_OSERR, error.description)
        }
    }

    private static func playAutomatically(_ options: MinesweeperOptions) -> Int32 {
        var run = AutoRun(options: options)
        do throws(AutoRun.NoDaemon) {
            let tally = try run.run()
            guard let refusal = tally.refusals.first else { return 0 }
            return fail(
                EX_DATAERR,
                "\(Counted.text(tally.refusals.count, "submission was", "submissions were")) refused; the first: \(refusal)"
            )
        } catch {
            return fail(EX_UNAVAILABLE, error.message)
        }
    }

    private static func finish(printing text: String) -> Int32 {
        StandardStream.output.write(text)
        return 0
    }

    private static func fail(_ code: Int32, _ message: String) -> Int32 {
        StandardStream.errors.write("kleos-minesweeper: \(message)\n")
        return code
    }
}
