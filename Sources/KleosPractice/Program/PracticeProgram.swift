import Glibc
import KleosJSON
import KleosSupport

/// The program `kleos-practice`.
package enum PracticeProgram {
    private static let version = "0.1.0"

    private static let help = """
        Usage: kleos-practice [OPTIONS]             serve the default contract, with faults on demand
               kleos-practice faults URL [FLAGS]    show or change the faults of a running one
               kleos-practice boards URL            print its leaderboards
               kleos-practice achievements URL      print its achievements
               kleos-practice requests URL          print its latest requests
               kleos-practice counts URL            print its totals as JSON

        Options:
          --listen ADDRESS:PORT      where to listen (\(ServeOptions.standardAddress)); port 0 picks a free one
          --allow-remote             allow an address that other machines can reach
          --port-file FILE           write the port into FILE when ready
          --store DIR                keep what was accepted in DIR; without it, in memory only
          --token TOKEN              require "Authorization: Bearer TOKEN"
          --faults FILE              read faults from a JSON file, in the form of GET /faults
          --exit-with-parent         end when the parent process ends
          --help, --version

        Faults, for the start and for "faults URL" (which knows --clear as well):
        \(FaultFlags.help)

        """

    /// Runs the program to its end and returns the exit code, as of sysexits.h.
    package static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(help, terminator: "")
            return EX_OK
        }
        if arguments.contains("--version") {
            print("kleos-practice \(version)")
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
