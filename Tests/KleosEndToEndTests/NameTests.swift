import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// A daemon in a network of its own, with names and practice endpoints that the test dictates.
///
/// Endpoints listen at port 8484 of 127.0.0.1, 127.0.0.2 and 127.0.0.3; the name server takes every question and never
/// answers; the file of hosts is `hosts`.
private final class PrivateNetwork {
    private static let world = #"""
        set -e
        dir=$1; practice=$2; shift 2
        ip link set lo up
        mount --bind "$dir/hosts" /etc/hosts
        mount --bind "$dir/resolv.conf" /etc/resolv.conf
        # What waits for DTLS takes every other packet without a word; it ends after the daemon does.
        mkfifo "$dir/in" "$dir/out" "$dir/end"
        openssl s_server -dtls1_2 -nocert -accept 127.0.0.1:53 <"$dir/in" >"$dir/out" 2>&1 &
        server=$!
        (exec 7>"$dir/in"; read -r _ <"$dir/end" || :; kill $server) &
        exec 8<"$dir/out"
        while read -r line <&8 && [ "$line" != ACCEPT ]; do :; done
        for n in 1 2 3; do
            "$practice" --listen 127.0.0.$n:8484 --store "$dir/practice$n" --exit-with-parent >&2 &
            echo $! >"$dir/practice$n.pid"
        done
        exec 9>"$dir/end"
        exec "$@"
        """#

    /// Whether this machine lets a test have such a network.
    static let isAvailable: Bool = {
        guard let folder = try? TemporaryFolder(),
            let trial = try? ChildProcess(
                "/usr/bin/unshare",
                [
                    "-rnm", "/bin/sh", "-c",
                    "ip link set lo up && mount --bind /etc/hosts /etc/hosts && openssl version",
                ],
                errorFile: folder.path("errors"))
        else { return false }
        return (try? trial.finish().isSuccess) ?? false
    }()

    let daemon: DaemonHarness

    init(hosts: String, endpoints: [String: String]) throws {
        let catalog = try SmallFile.readText(at: Scenario.repositoryPath("config/games.d/minesweeper.conf"))
        var files = [
            "hosts": "127.0.0.1 localhost\n\(hosts)",
            "resolv.conf": "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n",
            "games.d/minesweeper.conf": catalog.replacing(
                "Endpoints=home\n", with: "Endpoints=\(endpoints.keys.sorted().joined(separator: " "))\n"),
        ]
        for (name, text) in endpoints { files["endpoints.d/\(name).conf"] = text }
        daemon = try DaemonHarness(files: files)
        try daemon.start(through: [
            "/usr/bin/unshare", "-rnm", "/bin/sh", "-c", Self.world, "world", daemon.folder.path,
            BuiltPrograms.path("kleos-practice"),
        ])
    }

    /// Kills the endpoint at 127.0.0.`number`.
    func killPractice(_ number: Int) throws {
        let text = try SmallFile.readText(at: daemon.folder.path("practice\(number).pid"))
        let processID = try #require(pid_t(text.split(separator: "\n").first ?? ""))
        kill(processID, SIGKILL)
    }

    /// Writes into the file of hosts, in its place, because another file is not the one that was put over /etc/hosts.
    func setHosts(_ text: String) throws {
        let file = try FileDescriptor.open(daemon.folder.path("hosts"), O_WRONLY | O_TRUNC)
        try file.writeAll(Array("127.0.0.1 localhost\n\(text)".utf8))
    }

    func submit(_ value: Int, player: String) throws {
        let result = try daemon.kleos(
            ["submit", "score", "minesweeper", "beginner", "\(value)", "--player", player])
        try #require(result.isSuccess, "\(result.errors)")
    }

    func rows(_ endpoint: String) throws -> [JSONValue] {
        let result = try daemon.kleos(["list", "--endpoint", endpoint, "--all", "--json"])
        try #require(result.isSuccess, "\(result.output)\(result.errors)")
        return try result.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    }

    /// Waits until so many are delivered.
    func waitForDelivered(_ count: Int, at endpoint: String) throws {
        let areDelivered = try Patience.until {
            try rows(endpoint).count { $0["state"]?.stringValue == "delivered" } >= count
        }
        if areDelivered { return }
        Issue.record("\(endpoint) never got all: \(try daemon.log)")
    }

    /// Waits until the daemon has logged `text`.
    func waitForLog(_ text: String) throws {
        if try Patience.until({ try daemon.log.contains(text) }) { return }
        Issue.record("the daemon never logged \(text): \(try daemon.log)")
    }
}

@Suite(
    "Names of endpoints",
    .enabled(if: PrivateNetwork.isAvailable, "needs a network namespace (unshare -rnm), ip and openssl"),
    .timeLimit(.minutes(30)))
struct NameTests {
    private static let retry = "[Retry]\nBase=250ms\nCap=500ms\n"

    @Test("A name server that never answers holds up no other endpoint, nor the daemon's end")
    func silentNameServer() throws {
        let network = try PrivateNetwork(
            hosts: "",
            endpoints: [
                "home": "[Endpoint]\nURL=http://127.0.0.1:8484\n\(Self.retry)",
                "second": "[Endpoint]\nURL=https://nobody.example\n[Limits]\nConnectTimeout=4min\nTimeout=5min\n",
            ])
        for index in 0..<10 { try network.submit(index + 1, player: "p\(index)") }
        try network.waitForDelivered(10, at: "home")
        let waiting = try network.rows("second")
        #expect(waiting.count == 10)
        #expect(waiting.allSatisfy { $0["attempts"]?.int64Value == 0 }, "the question is still open")
        #expect(waiting.contains { $0["state"]?.stringValue == "sending" })
        #expect(network.daemon.stop() == .exited(0), "it does not wait for the name server")
        TestStage.report("fault endpoint", "1 silent name server: 10 delivered elsewhere meanwhile")
    }

    @Test("A server that comes back at another address is found")
    func newAddress() throws {
        let network = try PrivateNetwork(
            hosts: "127.0.0.2 score.example\n",
            endpoints: [
                "home":
                    "[Endpoint]\nURL=http://score.example:8484\nAllowInsecure=yes\n\(Self.retry)[Limits]\nConnectTimeout=1s\n"
            ])
        try network.submit(3, player: "ada")
        try network.waitForDelivered(1, at: "home")
        try network.setHosts("127.0.0.3 score.example\n")
        try network.killPractice(2)
        for index in 0..<5 { try network.submit(2, player: "p\(index)") }
        try network.waitForDelivered(6, at: "home")
        try network.setHosts("")
        try network.killPractice(3)
        try network.submit(1, player: "ada")
        try network.waitForLog("is failing: no answer in time: Resolving timed out")
        #expect(network.daemon.stop() == .exited(0))
        TestStage.report("fault endpoint", "1 move to another address: 6 delivered")
    }
}
