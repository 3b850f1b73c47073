import Glibc
import KleosJSON
package import KleosSupport

/// The program `kleos-practice`.
package enum PracticeProgram {
    /// How it is called, for its help and its page of the manual.
    package static let usage = ProgramUsage(
        name: "kleos-practice", summary: "a leaderboard service to practise with, with faults on demand",
        forms: [
            ProgramUsage.Row("kleos-practice [OPTIONS]", "serve the default contract, with faults on demand"),
            ProgramUsage.Row("kleos-practice faults URL [FAULTS]", "show or change the faults of a running one"),
            ProgramUsage.Row("kleos-practice boards URL", "print its leaderboards"),
            ProgramUsage.Row("kleos-practice achievements URL", "print its achievements"),
            ProgramUsage.Row("kleos-practice requests URL", "print its latest requests"),
            ProgramUsage.Row("kleos-practice counts URL", "print its totals as JSON"),
        ],
        introduction: "It runs until it is stopped. Its address is also that of a page that shows what it has.",
        groups: [
            ProgramUsage.Group("Options", ServeOptions.rows),
            ProgramUsage.Group("Faults, for the start and for faults URL", FaultFlags.rows),
        ],
        notes: [],
        exitCodes: [
            ProgramUsage.Code(0, "stopped or done"), ProgramUsage.Code(64, "wrong options or faults"),
            ProgramUsage.Code(65, "a file or what is in the store cannot be read"),
            ProgramUsage.Code(66, "a file is not there"), ProgramUsage.Code(69, "no practice endpoint answers at URL"),
            ProgramUsage.Code(71, "it cannot listen, or something on this machine failed"),
            ProgramUsage.Code(74, "the store cannot be written"),
        ])

    /// Runs the program to its end and returns the exit code, as of sysexits.h.
    package static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage.help, terminator: "")
            return EX_OK
        }
        if arguments.contains("--version") {
            print("kleos-practice \(ProgramVersion.text)")
            return EX_OK
        }
        do {
            if let verb = arguments.first, !verb.hasPrefix("-") {
                return try SteerCommand.run(verb, Array(arguments.dropFirst()))
            }
            return try serve(ServeOptions(arguments))
        } catch let error as UsageError {
            return fail("\(error.message); see kleos-practice --help", EX_USAGE)
        } catch let error as PracticeClient.Failure {
            return fail("\(error)", EX_UNAVAILABLE)
        } catch let error as FaultsError {
            return fail("\(error)", EX_USAGE)
        } catch let error as SystemError {
            return fail("\(error)", error.code == ENOENT ? EX_NOINPUT : EX_OSERR)
        } catch {
            return fail("\(error)", EX_DATAERR)
        }
    }

    private static func fail(_ message: String, _ code: Int32) -> Int32 {
        let line = Array("kleos-practice: \(message)\n".utf8)
        // Nothing can be reported about a standard error that cannot be written to.
        // Sound: the kernel reads the buffer during the call only, and no more than its count.
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        return code
    }

    private static func serve(_ options: ServeOptions) throws -> Int32 {
        // Blocked before the server's thread starts, so that only the wait below takes them.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        guard pthread_sigmask(SIG_BLOCK, &signals, nil) == 0 else { throw SystemError("block signals") }
        if options.exitsWithParent { ParentWatch.begin() }

        let server = try PracticeServer(options: options.server) { message in
            exit(fail(message, EX_IOERR))
        }
        if let path = options.portFile {
            try SmallFile.replace(path, with: Array("\(server.address.port)\n".utf8), mode: 0o644)
        }
        print("kleos-practice: listening on \(server.url)")
        fflush(nil)
        var signal: Int32 = 0
        sigwait(&signals, &signal)
        server.stop()
        return EX_OK
    }
}
