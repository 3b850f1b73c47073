import Dispatch
import Glibc
import KleosConfig
import KleosStore
import KleosSupport
import KleosWire

/// The program `kleosd`: reads its command line, starts the daemon, and lives until a signal ends it.
package enum DaemonProgram {
    /// Runs the daemon with the arguments that follow the program's name.
    package static func run(_ arguments: [String]) -> Never {
        Heap.shareArenas()
        StandardStream.occupyMissing()
        SignalHandling.ignoreBrokenPipes()
        // What the daemon makes is for its own user alone; sockets get their modes one by one.
        umask(0o077)
        do {
            let options = try DaemonOptions(arguments: arguments)
            switch options.information {
            case .help: finish(printing: DaemonOptions.help)
            case .version: finish(printing: "kleosd \(ProtocolVersion.program)\n")
            case nil: break
            }
            if let backup = options.restoredBackup { try restore(backup, options) }
            if options.exitsWithParent { ParentWatch.begin() }
            raiseDescriptorLimit()
            let daemon = try Daemon.make(options: options)
            daemon.async { $0.begin() }
            dispatchMain()
        } catch let error as DaemonOptions.UsageError {
            fail(.usage, error.message)
        } catch let error as StartError {
            fail(error.code, error.message)
        } catch {
            fail(.storage, "\(error)")
        }
    }

    private static func restore(_ backup: String, _ options: DaemonOptions) throws -> Never {
        let paths: DaemonPaths
        do throws(DaemonPaths.MissingHome) {
            paths = try DaemonPaths(options: options) { Environment[$0] }
        } catch {
            throw StartError(code: .configuration, message: error.message)
        }
        let report: Restore.Report
        do throws(StoreError) {
            report = try Restore.run(backup, into: paths.stateFolder, clock: SystemClock(), log: Log())
        } catch {
            throw StartError(code: ExitCode(error), message: error.description)
        }
        let old = report.setAside.map { "What was there before is whole at \($0).\n" } ?? ""
        finish(printing: "\(backup) is now \(report.path).\n\(old)")
    }

    /// The limits on connections are the configuration's; the usual 1024 descriptors would undercut them.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            Log()(.warning, "the limit of open files stays as it is: \(SystemError("raise the limit of open files"))")
        }
    }

    private static func finish(printing text: String) -> Never {
        StandardStream.output.write(text)
        exit(ExitCode.success.rawValue)
    }

    private static func fail(_ code: ExitCode, _ message: String) -> Never {
        let log = Log()
        for line in message.split(separator: "\n") { log(.error, String(line)) }
        exit(code.rawValue)
    }
}
