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

    static let help = DaemonUsage.usage.help

    /// Reads the arguments that follow the program's name.
    init(arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            let inlineValue = parts.count == 2 ? String(parts[1]) : nil
            let takesNoValue = ["--help", "--version", "--user", "--exit-with-parent"].contains(name)
            guard inlineValue == nil || !takesNoValue else { throw UsageError(message: "\(name) takes no value") }
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
