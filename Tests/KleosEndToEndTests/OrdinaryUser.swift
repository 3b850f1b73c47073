import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// A user without any right beyond its own, as whom a test runs programs: a number that no account has.
struct OrdinaryUser {
    var uid: UInt32
    /// Groups besides the one of the same number.
    var groups: [UInt32] = []

    static let ada = OrdinaryUser(uid: 61_001)
    static let bob = OrdinaryUser(uid: 61_002)

    /// Whether this process may become another user. Where it is root and cannot, the tests fail and do not skip.
    static let isRoot = getuid() == 0
    static let whySkipped: Comment = "needs root, to become other users"

    /// Starts a program as this user. Throws `SystemError`.
    func start(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], errorFile: String
    ) throws -> ChildProcess {
        let list = groups.isEmpty ? ["--clear-groups"] : ["--groups", groups.map(String.init).joined(separator: ",")]
        let places = ["/usr/bin/setpriv", "/bin/setpriv"]
        let path = try #require(places.first { access($0, X_OK) == 0 }, "setpriv(1) of util-linux is needed")
        return try ChildProcess(
            path,
            ["--reuid", String(uid), "--regid", String(uid)] + list + ["--no-new-privs", "--", program] + arguments,
            environment: environment, errorFile: errorFile)
    }

    /// Runs `kleos` as this user against a daemon. Throws `SystemError`.
    func kleos(_ arguments: [String], daemon: DaemonHarness) throws -> ChildProcess.Result {
        let errorFile = daemon.folder.path("\(uid).err")
        unlink(errorFile)
        let result = try start(
            BuiltPrograms.path("kleos"), arguments,
            environment: [
                "KLEOS_SOCKET": daemon.socketPath, "KLEOS_CONTROL_SOCKET": daemon.controlPath, "NO_COLOR": "1",
            ], errorFile: errorFile
        ).finish()
        // The number of the user in the program's own words: a child that kept root's rights proves nothing.
        try #require(!result.errors.contains("setpriv:"), "\(result.errors)")
        return result
    }
}
