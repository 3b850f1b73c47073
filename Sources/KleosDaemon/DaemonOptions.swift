import KleosConfig
import KleosSupport
import KleosWire

/// What the command line of `kleosd` says.
struct DaemonOptions: Sendable, Equatable {
    /// What to do in place of running.
    enum Information: Sendable, Equatable {
        case help
        case version
    }

    /// A command line that cannot be followed.
    struct UsageError: Error, Equatable {
        let message: String
    }

    var kind: DaemonKind = .system
    /// The folder of a private daemon.
    var privateFolder: String?
    /// Replaces the search path of the configuration.
    var configurationFolder: String?
    /// Replaces the folder of the database.
    var stateFolder: String?
    /// Replaces the folders of the sockets.
    var socketFolder: String?
    /// Replaces the folder of the spool.
    var spoolFolder: String?
    /// A backup to put in the place of the queue, in place of running.
    var restoredBackup: String?
    /// Whether it ends when the process that started it does.
    var exitsWithParent = false
    var information: Information?

    static let help = """
        kleosd - the daemon of kleos, a durable outbox for achievements and scores

        Usage: kleosd [OPTIONS]

        Without options it is the system's daemon: configuration in /etc/kleos, queue in
        /var/lib/kleos, sockets in /run/kleos.

          --user            a user's own daemon: configuration in ~/.config/kleos, queue in
                            ~/.local/state/kleos, sockets in $XDG_RUNTIME_DIR/kleos and in
                            ~/.local/share/kleos
          --private FOLDER  everything in FOLDER: kleosd.conf, games.d, endpoints.d, the queue and
                            the sockets
          --config FOLDER   read the configuration from FOLDER alone
          --state FOLDER    keep the queue in FOLDER
          --sockets FOLDER  make kleos.sock and control.sock in FOLDER
          --spool FOLDER    take in what clients leave in FOLDER while the daemon does not answer:
                            /var/spool/kleos, and with --user, --private or --state the folder
                            spool beside the queue
          --restore FILE    put this backup in the place of the queue, which is set aside whole, and
                            end; no daemon may be running
          --exit-with-parent
                            end when the process that started it ends
          --help            print this text
          --version         print the version

        SIGHUP reads the configuration again; SIGTERM and SIGINT stop.
        Exit codes: 0 stopped, 64 wrong options, 69 another daemon runs, 74 the queue cannot be
        opened or written, 77 a folder's owner is wrong, 78 the configuration has errors.

        """

    /// Reads the arguments that follow the program's name.
    init(arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            let inlineValue = parts.count == 2 ? String(parts[1]) : nil
            switch name {
            case "--help", "-h": information = .help
            case "--version": information = .version
            case "--user": kind = .user
            case "--private":
                kind = .privateFolder
                privateFolder = try Self.value(of: name, inlineValue, &rest)
            case "--config": configurationFolder = try Self.value(of: name, inlineValue, &rest)
            case "--state": stateFolder = try Self.value(of: name, inlineValue, &rest)
            case "--spool": spoolFolder = try Self.value(of: name, inlineValue, &rest)
            case "--restore": restoredBackup = try Self.value(of: name, inlineValue, &rest)
            case "--exit-with-parent": exitsWithParent = true
            case "--sockets": socketFolder = try Self.value(of: name, inlineValue, &rest)
            default: throw UsageError(message: "unknown option \(argument); kleosd --help lists them")
            }
        }
    }

    private static func value(
        of name: String, _ inlineValue: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard let value = inlineValue ?? rest.popFirst(), !value.isEmpty else {
            throw UsageError(message: "\(name) needs a path; kleosd --help tells more")
        }
        return value
    }
}
