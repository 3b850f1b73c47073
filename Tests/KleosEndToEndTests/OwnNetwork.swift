import Glibc
import KleosSupport
import KleosTestSupport

/// A network of its own for the programs that are started in it; at first it has nothing but a loopback that is down.
final class OwnNetwork {
    private let keeper: ChildProcess
    private let folder: TemporaryFolder

    /// Whether this user may make networks.
    static let isAvailable: Bool = {
        do {
            try OwnNetwork().addCard()
            return true
        } catch {
            return false
        }
    }()

    /// Makes a network. Throws `SystemError`.
    init() throws(SystemError) {
        folder = try TemporaryFolder(prefix: "network")
        keeper = try ChildProcess(
            "/usr/bin/unshare", ["--net", "/bin/sh", "-c", "echo ready; exec tail -f /dev/null"],
            errorFile: folder.path("errors"))
        guard try keeper.nextLine() == "ready" else {
            let said = try SmallFile.readText(at: folder.path("errors"))
            throw SystemError("make a network: \(said)", code: EPERM)
        }
    }

    deinit {
        keeper.send(SIGKILL)
        keeper.wait()
    }

    /// The command that runs what follows it in this network.
    var prefix: [String] { ["/usr/bin/nsenter", "--net=/proc/\(keeper.processID)/ns/net", "--"] }

    /// Starts a program in this network. Throws `SystemError`.
    func start(_ program: String, _ arguments: [String]) throws(SystemError) -> ChildProcess {
        try ChildProcess(
            prefix[0], prefix.dropFirst() + [program] + arguments, errorFile: folder.path("errors"))
    }

    /// Brings the loopback up and adds the network card d0, which has no address yet. Throws `SystemError`.
    func addCard() throws(SystemError) {
        try change("ip link set lo up; ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up")
    }

    /// Runs a line of the shell in this network, such as one of ip(8). Throws `SystemError` with what it said.
    func change(_ line: String) throws(SystemError) {
        let result = try start("/bin/sh", ["-c", "PATH=$PATH:/sbin:/usr/sbin; set -e; \(line)"]).finish()
        guard result.isSuccess else { throw SystemError("change a network (\(line)): \(result.errors)", code: EPERM) }
    }
}
